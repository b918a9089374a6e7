"""A person's own keys (``[ui.keys]``), checked before Textual gets them, so that no key has two meanings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from textual.keys import Keys, _character_to_key

from agent.config.errors import nearest
from screens.actions import ACTIONS, BY_ID, key_names, of_screen

_NAMED = {key.value for key in Keys if "+" not in key.value and not key.value.startswith("<")}
_FUNCTION = re.compile(r"f([1-9]|1\d|2[0-4])")
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_OF_TEXTUAL = {"ctrl+p": "the palette", "tab": "the next pane", "shift+tab": "the pane before", "ctrl+c": "copying"}


def read_keymap(wanted: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The keys that can be used, in Textual's names, and a sentence for each entry that cannot: then its action keeps the
    keys it has."""
    used: dict[str, str] = {}
    said = []
    for name, text in wanted.items():
        if name not in BY_ID:
            close = nearest(name, BY_ID)
            said.append(f"ui.keys: there is no action {name!r}." + (f" Did you mean {close!r}?" if close else ""))
            continue
        keys, fault = _read(text)
        if fault:
            said.append(f"ui.keys: {name} keeps its key, {_now(name, {})}: {fault}")
        else:
            used[name] = ",".join(keys)
    while clash := next(_clashes(used), None):
        name, other, key = clash
        del used[name]
        keeps = f"ui.keys: {name} keeps its key, {_now(name, used)}"
        said.append(f"{keeps}: {key_names(key)} is already the key of {other}. Give that action another key first.")
    return used, said


def _now(name: str, used: Mapping[str, str]) -> str:
    return key_names(used.get(name, BY_ID[name].keys))


def _read(text: str) -> tuple[list[str], str]:
    """The keys of one entry, and what is wrong with it."""
    words = [","] if text.strip() == "," else [word.strip() for word in text.split(",")]
    keys = []
    for word in words:
        key = _key(word)
        if not key:
            close = nearest(word.lower(), _NAMED)
            hint = f" Did you mean {close!r}?" if close else " Examples: f8, x, ctrl+k, space, enter."
            return [], f"{word!r} is not a key.{hint}"
        if key in _OF_TEXTUAL:
            return [], f"{word!r} is {_OF_TEXTUAL[key]}."
        keys.append(key)
    return keys, ""


def _key(word: str) -> str:
    """The name Textual has for a key; "" if it is none. A letter's case counts, that of a name does not."""
    *modifiers, last = [""] if not word else word.split("+") if word != "+" else ["+"]
    modifiers = [modifier.lower().replace("control", "ctrl") for modifier in modifiers]
    if any(modifier not in _MODIFIERS for modifier in modifiers):
        return ""
    if len(last) == 1:
        last = _character_to_key(last.lower() if "ctrl" in modifiers else last)
    else:
        last = {"esc": "escape", "return": "enter", "del": "delete", "ins": "insert"}.get(last.lower(), last.lower())
        if last not in _NAMED and not _FUNCTION.fullmatch(last) and last not in _CHARACTERS:
            return ""
    return "+".join([*modifiers, last])


_CHARACTERS = {_character_to_key(chr(code)) for code in range(0x20, 0x7F)}


def _clashes(used: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(The action whose wish clashes, the other action, the key), on any screen where both work. A screen's own action may
    take the key of one that works everywhere, unless that comes first."""
    for group in dict.fromkeys(action.group for action in ACTIONS):
        owner: dict[str, str] = {}
        for action in sorted((a for _, some in of_screen(group) for a in some), key=lambda a: a.id in used):
            for key in used.get(action.id, action.keys).split(","):
                other = owner.setdefault(key, action.id)
                shadows = BY_ID[other].group == "app" != action.group and not BY_ID[other].priority
                if other != action.id and action.id in used and not shadows:
                    yield action.id, other, key
