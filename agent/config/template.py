"""The commented template that ``cra config init`` writes. Its values are the defaults, so it runs as it is."""

from __future__ import annotations

import textwrap
import typing
from typing import Any

import msgspec
import tomli_w

from agent.config.errors import description_of
from agent.config.schema import Section, fields_of, sections

_WRITTEN_OUT = ("models", "orchestrator")
"""Sections whose defaults stand in the template as live lines; the others are shown as comments."""

_OVERRIDES = """
# A stage's own model. Groups: precision (its three passes), classify (the error questions), adjust_binary.
# Binary stages answer with one word, so 16 tokens are enough.
# [models.overrides]
# scope = {model = "qwen3:0.6b", provider = "ollama", context_window = 8192, max_tokens = 16}
# precision = {model = "qwen3:1.7b", provider = "ollama", context_window = 8192, max_tokens = 16}
# classify = {model = "nimble", provider = "systemone", base_url = "http://localhost:11434"}
# function_implement = "qwen2.5-coder-1.5b"
"""


def template() -> str:
    """The text of a new configuration file."""
    parts = [
        "# Configuration of cra. What is left out keeps the default shown.\n"
        "# Once you trust a repository, its .clean_room/config.toml wins over your own file, within limits (SECURITY.md).\n"
    ]
    for name, section in sections().items():
        parts.append(_section(name, section))
        if name == "models":
            parts.append(_OVERRIDES.lstrip("\n"))
    return "\n".join(parts)


def _section(name: str, section: type[Section]) -> str:
    live = name in _WRITTEN_OUT
    lines = [f"# {(section.__doc__ or '').strip()}", f"[{name}]"]
    for field in fields_of(section).values():
        default = _default(field)
        if isinstance(default, dict):
            continue
        lines += [f"# {part}" for part in textwrap.wrap(description_of(field.type) + _choices(field.type), 98)]
        lines.append(("" if live else "# ") + tomli_w.dumps({field.name: default}).strip())
    return "\n".join(lines) + "\n"


def _default(field: Any) -> Any:
    return field.default if field.default is not msgspec.NODEFAULT else field.default_factory()


def _choices(kind: Any) -> str:
    base = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    if typing.get_origin(base) is not typing.Literal:
        return ""
    return " One of: " + ", ".join(typing.get_args(base)) + "."
