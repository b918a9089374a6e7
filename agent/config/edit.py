"""Changes to a person's configuration file: comments, order and wording of the rest survive, the diff is shown before
anything is written, and the file is replaced whole or not at all.

A draft keeps what is to be changed apart from the file's text, so that it can be laid over a newer text of the file.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import msgspec

from agent.atomic import mode_for, replace_file
from agent.config.authority import refusal
from agent.config.errors import ConfigError, nearest
from agent.config.schema import Config, Override, check_value, fields_of, merge, parse, repo_config_path, sections
from agent.config.toml_text import KeyPath, put, take
from agent.workspace.trust import is_own_demo

UNSET = msgspec.UNSET
"""As a value: take the key out of the file, so that the inherited one counts."""

OVERRIDES = ("models", "overrides")


class ConfigDraft:
    """One file and the changes to it that are not saved yet.

    Args:
        path: the file; it need not exist.

    Raises:
        ConfigError: the file cannot be read or is wrong as it is; it has to be fixed by hand first.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changes: dict[KeyPath, Any] = {}
        self.reload()

    def reload(self) -> None:
        """Read the file again; the changes stay. Raises ConfigError as the constructor does; then the draft keeps the
        earlier text, and :meth:`save` still refuses to overwrite the file."""
        found = _read(self.path)
        try:
            text = found.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(str(self.path), "", f"this file cannot be read: {error}") from None
        self.stored = parse(text, str(self.path))
        self._bytes, self.original = found, text
        for place in [place for place, value in self.changes.items() if self._stored(place) == value]:
            del self.changes[place]

    @property
    def is_behind(self) -> bool:
        """Whether the file on disk is another than the one read. Raises ConfigError when it cannot be read."""
        return _read(self.path) != self._bytes

    # -- changing

    def set(self, section: str, key: str, value: Any) -> None:
        """Set a value.

        Raises:
            ConfigError: there is no such key, the value is not of its kind or outside its limits, or it is one that a
                repository's file may not set.
        """
        checked = check_value(str(self.path), f"{section}.{key}", self._kind(section, key), value)
        self._require_authority(section, key, value)
        self._change((section, key), checked)

    def unset(self, section: str, key: str) -> None:
        """Take a key out of the file. Raises ConfigError if there is no such key."""
        self._kind(section, key)
        self._change((section, key), UNSET)

    def set_override(self, stage: str, entry: Override) -> None:
        """Give a stage or group its own model. An entry that says nothing takes the override out."""
        table = {key: value for key, value in msgspec.structs.asdict(entry).items() if value}
        value: Any = table["model"] if list(table) == ["model"] else table or UNSET
        self._require_authority("models", "overrides", {stage: table})
        self._change((*OVERRIDES, stage), value)

    def remove_override(self, stage: str) -> None:
        """Take a stage's override out."""
        self._change((*OVERRIDES, stage), UNSET)

    def discard(self) -> None:
        """Forget the changes."""
        self.changes.clear()

    # -- looking

    def is_set(self, section: str, key: str) -> bool:
        """Whether the file, with the changes, sets the key."""
        return self._now((section, key)) is not UNSET

    def is_changed(self, section: str, key: str) -> bool:
        """Whether the key has a change that is not saved yet."""
        return (section, key) in self.changes

    def value(self, section: str, key: str) -> Any:
        """The value the file, with the changes, sets; UNSET when it sets none."""
        return self._now((section, key))

    def overrides(self) -> dict[str, Override]:
        """The overrides the file, with the changes, holds, in file order."""
        names = [*self.stored.get("models", {}).get("overrides", {})]
        names += [place[2] for place in self.changes if place[:2] == OVERRIDES and place[2] not in names]
        found = {name: self._now((*OVERRIDES, name)) for name in names}
        return {name: _override(entry) for name, entry in found.items() if entry is not UNSET}

    def values(self) -> dict[str, dict[str, Any]]:
        """The raw values per section, with the changes."""
        return parse(self.text(), str(self.path))

    def text(self) -> str:
        """The file's text with the changes.

        Raises:
            ConfigError: a change cannot be made in this file's form without disturbing other values.
        """
        text = self.original
        for place, value in self.changes.items():
            changed = take(text, place) if value is UNSET else put(text, place, value)
            if changed is None:
                key = ".".join(place)
                raise ConfigError(str(self.path), key, "this file's form does not let it be changed here: edit it by hand")
            text = changed
        return text

    def diff(self) -> str:
        """The changes as a unified diff; empty when there are none."""
        name = self.path.name
        lines = difflib.unified_diff(
            self.original.splitlines(), self.text().splitlines(), f"{name} (now)", f"{name} (after saving)", lineterm=""
        )
        return "\n".join(lines)

    def effective(self, under: dict[str, dict[str, Any]], over: dict[str, dict[str, Any]]) -> Config:
        """The configuration with this draft between a layer below and one above. Raises ConfigError."""
        return merge(under, self.values(), over)

    # -- saving

    def save(self) -> None:
        """Write the file: beside it first, then moved into place; a symbolic link keeps pointing where it did.

        Raises:
            ConfigError: the file was changed meanwhile (reload and look again), or cannot be written. Nothing was
                written then.
        """
        text = self.text()
        parse(text, str(self.path))
        if self.is_behind:
            raise ConfigError(str(self.path), "", "this file was changed by someone else meanwhile; nothing was written")
        try:
            _replace(self.path, text.encode("utf-8"))
        except OSError as error:
            raise ConfigError(str(self.path), "", f"this file cannot be written: {error}") from None
        self.changes.clear()
        self.reload()

    # -- inside

    def _require_authority(self, section: str, key: str, value: Any) -> None:
        """Refuse what a repository's own file may not set: it would be ignored later."""
        repo = self.path.parent.parent
        if self.path != repo_config_path(repo) or is_own_demo(repo):
            return
        if why := refusal(section, key, value):
            fault = f"a repository's file may not set this, since it {why}; set it in your own file"
            raise ConfigError(str(self.path), f"{section}.{key}", fault)

    def _kind(self, section: str, key: str) -> Any:
        known = sections()
        if section not in known:
            raise ConfigError(str(self.path), section, "there is no such section", nearest(section, known))
        fields = fields_of(known[section])
        if key not in fields:
            raise ConfigError(str(self.path), f"{section}.{key}", "there is no such key", nearest(key, fields))
        return fields[key].type

    def _change(self, place: KeyPath, value: Any) -> None:
        if self._stored(place) == value and type(self._stored(place)) is type(value):
            self.changes.pop(place, None)
        else:
            self.changes[place] = value

    def _stored(self, place: KeyPath) -> Any:
        found: Any = self.stored
        for part in place:
            if not isinstance(found, dict) or part not in found:
                return UNSET
            found = found[part]
        return found

    def _now(self, place: KeyPath) -> Any:
        return self.changes[place] if place in self.changes else self._stored(place)


def _override(entry: Any) -> Override:
    return Override(model=entry) if isinstance(entry, str) else msgspec.convert(entry, Override)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigError(str(path), "", f"this file cannot be read: {error}") from None


def _replace(path: Path, data: bytes) -> None:
    real = path.resolve()
    replace_file(real, data, mode=mode_for(real) if real.exists() else 0o600)
