"""The declarators of one declaration, as tokens: which name each declares."""

from __future__ import annotations

KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "_Alignas",
        "_Alignof",
        "_Atomic",
        "_Bool",
        "_Complex",
        "_Generic",
        "_Imaginary",
        "_Noreturn",
        "_Static_assert",
        "_Thread_local",
        "__attribute__",
        "__inline",
        "__inline__",
        "__extension__",
        "__restrict",
        "__restrict__",
        "__asm__",
        "__asm",
        "asm",
        "typeof",
        "__typeof__",
        "__signed__",
        "__const",
        "__volatile__",
        "__builtin_va_list",
        "__int128",
        "_Float128",
        "_Float64",
        "_Float32",
        "_Float64x",
        "_Float32x",
    ]
)
"""Words that are never a declared name."""


def split_declarators(kept: list[str]) -> list[list[str]]:
    """The pieces between top-level commas; an initialiser's commas do not count."""
    if "," not in kept:
        return [kept]
    pieces: list[list[str]] = [[]]
    depth = 0
    for token in kept:
        if token in ("(", "["):
            depth += 1
        elif token in (")", "]"):
            depth -= 1
        if token == "," and depth == 0:
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces


def declared_name(piece: list[str], *, first: bool) -> tuple[str, bool]:
    """The name that a declarator declares, and whether it is a function's."""
    end = piece.index("=") if "=" in piece else len(piece)
    part = piece[:end]
    if "(" in part:
        opened = part.index("(")
        before = part[opened - 1] if opened else ""
        inner = part[opened + 1 :]
        if inner[:1] in (["*"], ["^"], ["("]) or before in KEYWORDS or not is_name(before):
            name = next((t for t in inner if is_name(t) and t not in KEYWORDS), "")
            place = inner.index(name) if name else 0
            if name and inner[place + 1 : place + 2] == [")"] and inner[:1] != ["*"]:
                return name, True  # int (name)(int)
            return name, bool(name) and inner[place + 1 : place + 2] == ["("]
        return before, True  # also implicit int, or a macro call
    names = [t for t in _drop_subscripts(part) if is_name(t)]
    if not names or (first and len(names) < 2 and "{}" not in part):
        return "", False
    if first and part[-1] == "{}":
        return "", False
    if first and len(names) == 2 and names[0] in ("struct", "union", "enum") and "{}" not in part and "*" not in part:
        return "", False  # a bare `struct x;`
    if ":" in part:
        names = [t for t in part[: part.index(":")] if is_name(t)] or names
    return names[-1], False


def _drop_subscripts(part: list[str]) -> list[str]:
    if "[" not in part:
        return part
    out, depth = [], 0
    for token in part:
        if token == "[":
            depth += 1
        elif token == "]":
            depth -= 1
        elif depth == 0:
            out.append(token)
    return out


def is_name(token: str) -> bool:
    return bool(token) and (token[0].isalpha() or token[0] == "_") and token not in ("struct", "union", "enum")
