"""C function heads: written for a definition, and compared without regard to names and spelling."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.c.declarations.functions import CFunction, Parameter, functions

_STORAGE = frozenset(
    {
        "static", "extern", "inline", "__inline", "__inline__", "_Noreturn", "noreturn", "register", "auto",
        "__extension__", "restrict", "__restrict", "__restrict__",
    }
)  # fmt: skip
_SIZE = re.compile(r"(?<=\[)\w+(?=\])")
_INTEGERS = frozenset({"int", "signed", "unsigned", "short", "long", "char"})


def definition_head(function: CFunction, names: Sequence[str] = ()) -> str:
    """The head of ``function``'s definition: no attributes, no ``extern``, every parameter named, ``(void)`` for
    ``()``.

    ``names`` replaces parameter names by position ("" keeps the declared one), also where they are the sizes of an array.
    """
    parts = []
    renamed: dict[str, str] = {}
    for position, parameter in enumerate(function.parameters):
        wanted = names[position] if position < len(names) and names[position] else parameter.name
        text = named_parameter(parameter, wanted or f"arg{position + 1}")
        parts.append(_SIZE.sub(lambda size: renamed.get(size[0], size[0]), text) if renamed else text)
        if wanted != parameter.name and parameter.name:
            renamed[parameter.name] = wanted
    if function.variadic:
        parts.append("...")
    dropped = {"extern"} | (set() if function.static else {"inline", "__inline", "__inline__"})
    before = " ".join(word for word in function.before.split(" ") if word not in dropped)
    glue = "" if before.endswith(("*", "(")) else " "
    return f"{before}{glue}{function.name}({', '.join(parts) or 'void'}){function.after}"


def named_parameter(parameter: Parameter, name: str) -> str:
    """The parameter's declaration with ``name`` as its name."""
    left = parameter.text[: parameter.slot]
    right = parameter.text[parameter.slot + len(parameter.name) :].replace("[*]", "[]", 1)  # [*] is for prototypes only
    glue = "" if not left or left.endswith(("*", "(", " ", "\n", "\t")) else " "
    return re.sub(r"\s+", " ", f"{left}{glue}{name}{right}").strip()


def normal_type(text: str) -> str:
    """A type's spelling made comparable: storage words gone, integer words in one order, the first ``[]`` as
    ``*``."""
    text = re.sub(r"\[[^\]]*\]", "*", text, count=1)
    tokens = [token for token in re.findall(r"\w+|[^\w\s]", text) if token not in _STORAGE]
    cut = next((index for index, token in enumerate(tokens) if not re.match(r"\w", token)), len(tokens))
    base, rest = tokens[:cut], tokens[cut:]
    integers = [token for token in base if token in _INTEGERS]
    others = sorted(token for token in base if token not in _INTEGERS)
    if integers:
        others = sorted([*others, *_normal_integer(integers)])
    return " ".join(["_Bool" if token == "bool" else token for token in others] + rest)


def _normal_integer(words: list[str]) -> list[str]:
    """``unsigned`` is ``unsigned int``, ``long unsigned int`` is ``unsigned long``, ``signed`` is ``int``."""
    if "char" in words:
        return sorted(words)
    sign = ["unsigned"] if "unsigned" in words else []
    size = [word for word in words if word in ("short", "long")]
    return sign + (size or ["int"])


def same_signature(declared: CFunction, written: CFunction) -> bool:
    """Whether return type, parameter types and variadic tail agree. Names and storage words are free."""
    if declared.variadic != written.variadic or len(declared.parameters) != len(written.parameters):
        return False
    if normal_type(declared.before + "@" + declared.after) != normal_type(written.before + "@" + written.after):
        return False
    pairs = zip(declared.parameters, written.parameters, strict=True)
    return all(_normal_parameter(one.type) == _normal_parameter(other.type) for one, other in pairs)


def _normal_parameter(text: str) -> str:
    """A parameter's type; ``const`` on the parameter itself is not part of the signature."""
    normal = normal_type(text)
    if normal.endswith("const"):
        normal = normal.removesuffix("const").rstrip()
    return normal.removeprefix("const ") if "*" not in normal and "[" not in normal else normal


def prototype_of(signature: str) -> CFunction | None:
    """The function that a one-line signature (``;`` or ``{`` at its end or not) declares, None if none."""
    text = signature.strip().rstrip("{").rstrip().rstrip(";") + ";"
    found = functions(text.encode())
    return found[0] if found else None
