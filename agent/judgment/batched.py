"""Structured replies: one call with a schema and one re-ask; what follows then is the caller's decision."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from agent.judgment.asking import StageLlm
from agent.models.answers import extract_json

S = TypeVar("S")


class Unreadable(Exception):
    """Neither reply fitted the schema; the text says what was wrong with the last one."""


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON schema of a msgspec type with its references resolved in place, as servers want it."""
    schema = msgspec.json.schema(kind)
    definitions = schema.pop("$defs", {})
    resolved = _inline(schema, definitions)
    return resolved if isinstance(resolved, dict) else {}


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, dict):
        if "$ref" in node:
            return _inline(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
        return {key: _inline(value, definitions) for key, value in node.items() if key not in ("title", "default")}
    return [_inline(value, definitions) for value in node] if isinstance(node, list) else node


async def ask_structured(
    kind: type[S],
    *,
    llm: StageLlm,
    system: str,
    prompt: str,
    item: str,
    task_context: str = "",
    max_tokens: int | None = None,
    check: Any = None,
) -> S:
    """A reply of type ``kind``. ``check(value)`` may raise ValueError to refuse a well-formed but wrong one.

    Raises:
        Unreadable: if the re-ask failed too.
        ModelError: if the model cannot answer.
    """
    schema = schema_of(kind)
    problem = ""
    for attempt in (1, 2):
        again = f"\n\nYour last reply could not be used: {problem}\nReply again with only the JSON." if problem else ""
        asked = await llm.generate(
            system=system, prompt=prompt + again, item=item, task_context=task_context, attempt=attempt, schema=schema,
            max_tokens=max_tokens,
        )  # fmt: skip
        try:
            return _read(kind, asked.text, asked.finish, check)
        except ValueError as error:
            problem = str(error)
    raise Unreadable(f"The reply of {llm.target.model} in stage {llm.stage} could not be used: {problem.rstrip('.')}.")


def _read(kind: type[S], text: str, finish: str, check: Any) -> S:
    found = extract_json(text)
    if found is None:
        cut = " (it was cut by max_tokens)" if finish == "length" else ""
        raise ValueError(f"it holds no JSON{cut}")
    try:
        value = msgspec.json.decode(found.encode(), type=kind)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None
    if check is not None:
        check(value)
    return value
