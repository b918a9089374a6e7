"""A person's private files on this machine: keys, tokens, sessions. A project's checks do not need them.

The list names what programs write under these names by default. Toolchains below HOME (pyenv, cargo, rustup, virtual
environments, ``.local``) are not on it, since builds and tests run by them.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

_FOLDERS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".fly", ".terraform.d", ".password-store",
    ".config/gh", ".config/glab-cli", ".config/gcloud", ".config/op", ".config/rclone", ".config/containers", ".config/sops",
    ".config/hub", ".config/doctl", ".config/age", ".local/share/keyrings", ".local/share/kwalletd",
    ".local/share/password-store", "Library/Keychains",
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/Signal",
)  # fmt: skip
_FILES = (
    ".netrc", ".authinfo", ".authinfo.gpg", ".git-credentials", ".config/git/credentials", ".npmrc", ".yarnrc",
    ".yarnrc.yml", ".pypirc", ".pip/pip.conf", ".config/pip/pip.conf", ".config/pypoetry/auth.toml", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".m2/settings-security.xml",
    ".gradle/gradle.properties", ".composer/auth.json", ".config/composer/auth.json", ".nuget/NuGet/NuGet.Config",
    ".pgpass", ".my.cnf", ".mylogin.cnf", ".boto", ".s3cfg", ".vault-token", ".huggingface/token",
    ".cache/huggingface/token", ".terraformrc", ".msmtprc", ".fetchmailrc", ".Xauthority", ".ICEauthority",
    ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history",
    ".local/share/fish/fish_history",
)  # fmt: skip
_NAMED = (
    "GNUPGHOME", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AZURE_CONFIG_DIR", "KUBECONFIG", "DOCKER_CONFIG",
    "GH_CONFIG_DIR", "CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "NETRC", "NPM_CONFIG_USERCONFIG",
    "PIP_CONFIG_FILE", "PGPASSFILE", "VAULT_TOKEN_PATH", "XAUTHORITY", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR",
)  # fmt: skip
# A process that can write to these controls a daemon outside the sandbox; a network namespace does not prevent it.
_SOCKETS = (
    "/run/docker.sock", "/run/podman", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket",
    "/run/systemd/private", "/tmp/.X11-unix",
)  # fmt: skip


def private_places(spared: Sequence[Path] = ()) -> tuple[list[Path], list[Path]]:
    """Folders and files (sockets too) that exist and that no command of a project may see; real paths, no duplicates.

    Homes are the environment's and the account's. What holds one of ``spared``, a home or this interpreter is left out: a
    repository kept in such a folder could not be worked on otherwise.
    """
    folders: dict[Path, None] = {}
    files: dict[Path, None] = {}
    own = homes()
    kept = [Path(os.path.realpath(place)) for place in (*spared, *own, Path(sys.prefix), Path(sys.base_prefix))]
    for name in _candidates(own):
        try:
            mode = os.stat(name).st_mode  # most do not exist: stat is cheaper than realpath
        except OSError:
            continue
        real = Path(os.path.realpath(name))
        if real in _NEVER or any(one.is_relative_to(real) for one in kept):
            continue
        if stat.S_ISDIR(mode):
            folders[real] = None
        elif stat.S_ISREG(mode) or stat.S_ISSOCK(mode):
            files[real] = None
    inside = [place for place in folders if any(place != other and place.is_relative_to(other) for other in folders)]
    for place in inside:
        del folders[place]
    return list(folders), [file for file in files if not any(file.is_relative_to(folder) for folder in folders)]


def _candidates(own: Iterable[Path]) -> Iterator[str]:
    """Texts, not paths: every command pays for these."""
    for home in own:
        for name in (*_FOLDERS, *_FILES):
            yield os.path.join(home, name)
    for variable in _NAMED:
        for name in os.environ.get(variable, "").split(os.pathsep):
            if os.path.isabs(name):
                yield name
    yield from ("/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/ssl/private", "/etc/sudoers.d")
    yield f"/run/user/{os.getuid()}"
    yield from _SOCKETS


def homes() -> set[Path]:
    """The person's home folders: the environment's and the account's."""
    found = {Path(os.path.expanduser("~"))}
    with contextlib.suppress(KeyError):  # an account without an entry, as in some containers
        found.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return {home for home in found if home.is_absolute() and home != Path("/")}


_NEVER = frozenset(map(Path, ("/", "/tmp", "/var", "/var/tmp", "/dev", "/proc", "/sys", "/run", "/etc", "/usr")))
"""Never covered, whatever a variable says: nothing would run without them."""
