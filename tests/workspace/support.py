"""Real repositories for the tests of the workspace."""

import hashlib
import os
import subprocess
from pathlib import Path


def git(repo, *args, check=True):
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or "CONFIG" in key}
    command = ["git", "-c", "user.name=Somebody", "-c", "user.email=somebody@localhost", *args]
    return subprocess.run(command, cwd=repo, check=check, capture_output=True, text=True, env=env).stdout


def make_repo(path, files=None, commit=True):
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", "-b", "main")
    for name, text in (files or {"a.c": "int a;\n", "dir/b.py": "b = 1\n"}).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    if commit:
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", "Start")
    return path


def fingerprint(repo, refs=True):
    """Everything of a person's checkout that a run must leave alone: files, modes, index, HEAD, their branches, stash.

    Without ``refs``: the files and modes only.
    """
    entries = []
    for path in sorted(Path(repo).rglob("*")):
        relative = path.relative_to(repo)
        if relative.parts[0] in (".clean_room", ".git"):
            continue
        if path.is_symlink():
            entries.append((str(relative), "link", os.readlink(path)))
        elif path.is_file():
            entries.append((str(relative), path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest()))
        else:
            entries.append((str(relative), "folder", path.stat().st_mode))
    state = []
    if refs and (Path(repo) / ".git").exists():
        index = Path(repo) / git(repo, "rev-parse", "--git-path", "index").strip()
        state.append(index.read_bytes() if index.exists() else b"")
        state.append(git(repo, "symbolic-ref", "-q", "HEAD", check=False))
        state.append(git(repo, "rev-parse", "-q", "--verify", "HEAD", check=False))
        branches = git(repo, "for-each-ref", "--format=%(refname) %(objectname)")
        state.append([line for line in branches.splitlines() if "refs/heads/cra/" not in line])
        state.append(git(repo, "config", "--local", "--list"))
    return entries, state
