"""What the settings form shows and changes: the fields of the schema, two files, and where each value comes from."""

from __future__ import annotations

import shlex
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from agent.audit.call_costs import Measured, measured
from agent.audit.log import LogError
from agent.audit.reader import LogReader
from agent.config.edit import UNSET, ConfigDraft
from agent.config.errors import ConfigError, description_of, expected_of
from agent.config.schema import Config, check_value, fields_of, repo_config_path, sections, user_config_path
from agent.models.router import Router
from screens.keymap import read_keymap

Scope = Literal["person", "repository"]
WORDS: dict[str, str] = {"person": "your file", "repository": "this repository's file"}


@dataclass(frozen=True)
class Field:
    """One key of the configuration. ``control`` is how it is edited."""

    section: str
    key: str
    kind: Any
    description: str
    default: Any
    control: Literal["switch", "choice", "text"]
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As a person writes it: ``models.seed``."""
        return f"{self.section}.{self.key}"

    @property
    def expected(self) -> str:
        """Type and limits in words."""
        if isinstance(self.default, list):
            return "words, separated by spaces"
        if isinstance(self.default, dict):
            return "pairs such as run.step=f8, separated by spaces"
        words = expected_of(self.kind)
        return words.replace("a text in quotes", "a text")

    def matches(self, words: list[str]) -> bool:
        """Whether every word occurs in its name, description or choices."""
        text = f"{self.name} {self.name.replace('_', ' ')} {self.description} {' '.join(self.choices)}".lower()
        return all(word in text for word in words)


def fields() -> list[Field]:
    """Every key but the overrides, in file order."""
    found = []
    for section, struct in sections().items():
        for field in fields_of(struct).values():
            if (section, field.name) == ("models", "overrides"):
                continue
            default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
            control, choices = _control(field.type, default)
            found.append(Field(section, field.name, field.type, description_of(field.type), default, control, choices))
    return found


def _control(kind: Any, default: Any) -> tuple[Literal["switch", "choice", "text"], tuple[str, ...]]:
    base = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    if typing.get_origin(base) is typing.Literal:
        return "choice", typing.get_args(base)
    return ("switch", ()) if isinstance(default, bool) else ("text", ())


def as_text(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return shlex.join(value)
    if isinstance(value, dict):
        return " ".join(f"{key}={shlex.quote(part)}" for key, part in value.items())
    return str(value)


def read(field: Field, text: str) -> Any:
    """What was typed, as the field's value.

    Raises:
        ValueError: it is none; the text says what was expected.
    """
    text = text.strip() if not isinstance(field.default, str) else text
    try:
        value = text if text in _words(field.kind) else _converted(field.default, text)
        return check_value("", field.name, field.kind, value)
    except (ValueError, ConfigError):
        found = f"not {text!r}" if text else "not nothing"
        raise ValueError(f"Expected {field.expected}, {found}.") from None


def _words(kind: Any) -> tuple[str, ...]:
    """The words that a field takes in place of a number."""
    base = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    if typing.get_origin(base) not in (typing.Union, types.UnionType):
        return ()
    literals = [part for part in typing.get_args(base) if typing.get_origin(part) is typing.Literal]
    return tuple(word for part in literals for word in typing.get_args(part))


def _converted(default: Any, text: str) -> Any:
    if isinstance(default, bool):
        return {"on": True, "off": False}[text]
    if isinstance(default, int):
        return int(text.replace("_", ""))
    if isinstance(default, float):
        return float(text)
    if isinstance(default, list):
        return shlex.split(text)
    if isinstance(default, dict):
        pairs = [word.partition("=") for word in shlex.split(text)]
        if not all(key and sign and value for key, sign, value in pairs):
            raise ValueError(text)
        return {key: value for key, _, value in pairs}
    return text


class SettingsModel:
    """The person's file and the repository's, one of them being edited.

    Raises:
        ConfigError: the person's file, or the repository's, is wrong as it is.
    """

    def __init__(self, repo: Path | None) -> None:
        self.drafts: dict[str, ConfigDraft] = {"person": ConfigDraft(user_config_path())}
        if repo is not None and repo.is_dir():
            self.drafts["repository"] = ConfigDraft(repo_config_path(repo))
        self.repo = repo
        wins = "repository" in self.drafts and any(self.drafts["repository"].values().values())
        self.scope: Scope = "repository" if wins else "person"
        """The file being edited: at first the repository's where it sets anything, since it wins."""

    @property
    def draft(self) -> ConfigDraft:
        """The file being edited."""
        return self.drafts[self.scope]

    def switch(self) -> bool:
        """To the other file. False when there is only one."""
        other: Scope = "repository" if self.scope == "person" else "person"
        if other in self.drafts:
            self.scope = other
        return self.scope == other

    def value(self, field: Field) -> Any:
        """What the form shows: the file's value, else the inherited one."""
        own = self.draft.value(field.section, field.key)
        return self.inherited(field)[0] if own is UNSET else own

    def inherited(self, field: Field) -> tuple[Any, str]:
        """What counts when this file says nothing, and where it comes from."""
        if self.scope == "repository":
            below = self.drafts["person"].value(field.section, field.key)
            if below is not UNSET:
                return below, WORDS["person"]
        return field.default, "default"

    def overruled(self, field: Field) -> Any:
        """The repository's value that wins over the one edited; UNSET when none does."""
        if self.scope == "repository" or "repository" not in self.drafts:
            return UNSET
        return self.drafts["repository"].value(field.section, field.key)

    def give(self, field: Field, value: Any) -> None:
        """Take what was typed or chosen. The inherited value typed where nothing was set is not a change.

        Raises:
            ConfigError: it is not allowed.
        """
        stored = field.key in self.draft.stored.get(field.section, {})
        if not stored and value == self.inherited(field)[0]:
            self.draft.unset(field.section, field.key)
        else:
            self.draft.set(field.section, field.key, value)

    def state(self, field: Field) -> str:
        """Where the shown value stands, in a few words."""
        draft = self.draft
        changed = "● " if draft.is_changed(field.section, field.key) else ""
        if draft.is_set(field.section, field.key):
            words = "set here"
        elif changed:
            words = "taken out"
        else:
            words = self.inherited(field)[1]
        return changed + words

    def config(self) -> Config:
        """The configuration as it would be, both files with their changes. Raises ConfigError."""
        person, repository = self.drafts["person"], self.drafts.get("repository")
        return person.effective({}, repository.values() if repository else {})

    def measured(self) -> dict[tuple[str, str], Measured]:
        """(Stage, model) to what its calls took in the repository's log. Blocking; nothing where there is no log."""
        path = self.repo / ".clean_room" / "raw.sqlite" if self.repo is not None else None
        if path is None or not path.is_file():
            return {}
        try:
            reader = LogReader(path)
        except LogError:
            return {}
        try:
            return measured(reader)
        except LogError:
            return {}
        finally:
            reader.close()

    def fault(self) -> str:
        """What is wrong with the whole, if anything: a stage that is none, a reply that leaves no room for a prompt, a key
        given twice just now."""
        try:
            Router(self.config().models)
        except ConfigError as error:
            return f"{error.key}: {error.fault}" + (f". Did you mean {error.suggestion!r}?" if error.suggestion else ".")
        if any(("ui", "keys") in draft.changes for draft in self.drafts.values()):
            return next(iter(read_keymap(self.config().ui.keys)[1]), "")
        return ""

    def unsaved(self) -> int:
        """Changes in both files."""
        return sum(len(draft.changes) for draft in self.drafts.values())

    def save(self) -> None:
        """Write the file being edited. Raises ConfigError; nothing was written then."""
        if self.scope == "repository" and self.repo is not None:
            from agent.audit.log import log_path

            log_path(self.repo)  # makes the folder, which keeps itself out of git
        self.draft.save()
