"""What a repository's own configuration file may set. It comes with a clone, so anyone can have written it.

It can never choose an API key, a server outside this machine, a program, or a looser sandbox: those come from the person's
own file and the command line. A value that it may not set is ignored, with a sentence for the person.
"""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from agent.compiler_flags import is_harmless

Layer = dict[str, dict[str, Any]]

_OWN_ONLY = {
    ("models", "api_key_env"): "names an environment variable that holds a key",
    ("compile", "compiler"): "names a program to run",
    ("sandbox", "readable"): "opens folders of yours to commands",
    ("judgment", "pool"): "gathers labels beyond this repository",
    ("ui", "keys"): "changes the keys of the application",
}
_LIMITS = ("memory_mib", "file_mib", "cpu_seconds", "processes")


def refusal(section: str, key: str, value: Any) -> str:
    """Why a repository's file may not set this, as the end of a sentence; "" when it may."""
    if (section, key) in _OWN_ONLY:
        return _OWN_ONLY[section, key]
    if (section, key) == ("models", "base_url") and not is_loopback(value):
        return "sends prompts, and so the source code, to another machine"
    if (section, key) == ("sandbox", "network") and value is True:
        return "lets commands reach the network"
    if (section, key) == ("compile", "extra_flags") and not _all_harmless(value):
        return "holds flags that can run programs or read files"
    if (section, key) == ("models", "overrides") and isinstance(value, dict):
        return next((why for entry in value.values() if (why := _of_override(entry))), "")
    return ""


def limited(layer: Layer, own: Layer, walls: dict[str, Any]) -> tuple[Layer, tuple[str, ...]]:
    """What of a repository's layer counts over the person's ``own``, and a sentence for each value that does not. ``walls``
    is the sandbox section that holds without the repository's file."""
    kept: Layer = {}
    said: list[str] = []
    for section, table in layer.items():
        for key, value in table.items():
            why = refusal(section, key, value) or _looser(section, key, value, walls) or _borrows_key(section, key, own)
            if why:
                said.append(f"{section}.{key} of the repository's own configuration is not used, since it {why}.")
            else:
                kept.setdefault(section, {})[key] = value
    if said:
        said.append("Set it in your own configuration file if you want it (cra config path shows where that is).")
    return kept, tuple(said)


def is_loopback(address: Any) -> bool:
    """Whether an address, "" for a provider's usual one, is on this machine."""
    if not isinstance(address, str) or not address:
        return address == ""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _of_override(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    if entry.get("api_key_env"):
        return _OWN_ONLY["models", "api_key_env"]
    if not is_loopback(entry.get("base_url", "")):
        return "sends prompts, and so the source code, to another machine"
    return ""


def _all_harmless(flags: Any) -> bool:
    return isinstance(flags, list) and all(isinstance(flag, str) and is_harmless(flag) for flag in flags)


def _looser(section: str, key: str, value: Any, walls: dict[str, Any]) -> str:
    if section != "sandbox" or key not in _LIMITS:
        return ""
    allowed = walls[key]
    looser = value == 0 != allowed or (allowed != 0 and isinstance(value, int) and value > allowed)
    return f"loosens the limit of {allowed}" if looser else ""


def _borrows_key(section: str, key: str, own: Layer) -> str:
    """A key of the person's is meant for the server they named, no other."""
    models = own.get("models", {})
    overrides = models.get("overrides", {})
    keyed = models.get("api_key_env") or any(isinstance(o, dict) and o.get("api_key_env") for o in overrides.values())
    if section == "models" and key in ("base_url", "provider") and keyed:
        return "would send your API key to another server"
    return ""
