"""Stubs written from C prototypes: they compile for every return type and carry a marker that nothing else has."""

from __future__ import annotations

import re

from agent.c.declarations.functions import CFunction
from agent.c.declarations.signature import definition_head

MARKER = "cra:stub"
"""Stands in a comment inside every stub body this application writes, and nowhere else."""

_SCALAR_WORDS = frozenset(
    {
        "int", "char", "short", "long", "unsigned", "signed", "float", "double", "_Bool", "bool", "enum", "size_t",
        "ssize_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
        "uint64_t", "intptr_t", "uintptr_t", "time_t", "off_t", "FILE",
    }
)  # fmt: skip


def stub_text(function: CFunction, *, doc: str | None = None) -> str:
    """A compiling definition of the declared ``function``: its contract as a comment, its head, a marked body.

    ``doc`` is the contract (the comment above the prototype when None, nothing when ""). No trailing newline.
    """
    contract = function.doc if doc is None else doc
    lines = [contract] if contract else []
    lines += [definition_head(function), "{", *(f"    {line}" for line in stub_body(function)), "}"]
    return "\n".join(lines)


def stub_body(function: CFunction) -> list[str]:
    """The statements of a stub: the marker, every parameter used (for ``-Wextra``), and a return of the type's zero."""
    lines = [f"/* {MARKER} */"]
    for position, parameter in enumerate(function.parameters):
        lines.append(f"(void){parameter.name or f'arg{position + 1}'};")
    if function.noreturn:
        return [*lines, "__builtin_trap();"]
    if function.returns_void:
        return lines
    if _zero_is_a_value(function):
        return [*lines, "return 0;"]
    # a static object is zero for every type there is, structs by value and unknown typedefs included
    return [*lines, f"static {result_declaration(function, 'cra_result')};", "return cra_result;"]


def _zero_is_a_value(function: CFunction) -> bool:
    """Whether ``return 0;`` fits: a pointer (to data or to a function) or a type known to be a scalar."""
    pointer = "*" in function.before[len(function.specifiers) :]
    words = set(re.findall(r"\w+", function.specifiers))
    return pointer or bool(words & _SCALAR_WORDS and not words & {"struct", "union"})


def result_declaration(function: CFunction, name: str) -> str:
    """A declaration of ``name`` with the return type of ``function``, without storage and outer qualifiers."""
    before = re.sub(r"\b(?:static|extern|inline|__inline__|__inline|_Noreturn|const|volatile)\b\s*", "", function.before)
    return f"{before.strip()} {name}{function.after}"
