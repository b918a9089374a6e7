"""A definition's head rewritten from the prototype (keeping the names its body uses), or the prototype from it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from agent.c.declarations.declarators import KEYWORDS
from agent.c.project import ProjectFiles
from agent.c.symbols.reader import parse
from agent.language.symbols import Symbol

_NAME = re.compile(r"[A-Za-z_]\w*")
_POINTER_NAME = re.compile(r"\(\s*\*+\s*(?:const\s+|restrict\s+)*([A-Za-z_]\w*)?")
_STORAGE = re.compile(r"^(?:(?:extern|static|inline|__inline__?|_Noreturn)\s+)+")


class HeadEdit(NamedTuple):
    """A head that was rewritten: in which file, at which line, from what, to what (both without body or semicolon)."""

    path: str
    line: int
    before: str
    after: str


class Disagreement(NamedTuple):
    """The two heads of a function that do not agree, each with its file and line; an empty text when one was not found."""

    symbol: str
    prototype: str
    prototype_at: str
    definition: str
    definition_at: str


def disagreement(project: ProjectFiles, path: str, symbol: str) -> Disagreement | None:
    """The prototype and the definition of ``symbol`` as the project has them; None when neither is found."""
    prototype = _find(project, [*project.headers(), path, *project.paths()], symbol, "prototype")
    definition = _find(project, [path, *project.paths()], symbol, "function")
    if prototype is None and definition is None:
        return None
    return Disagreement(
        symbol,
        prototype[1].signature if prototype else "",
        f"{prototype[0]}:{prototype[1].line}" if prototype else "",
        definition[1].signature if definition else "",
        f"{definition[0]}:{definition[1].line}" if definition else "",
    )


def rewrite_head(
    project: ProjectFiles, path: str, symbol: str, source: Literal["header", "definition"] = "header"
) -> HeadEdit | None:
    """Make the two heads of ``symbol`` agree; ``source`` names the side that is right. None when nothing can be done.

    From the header: the definition in ``path`` gets the prototype's return type and parameter types; parameter names that
    the body uses stay where the number of parameters allows it. From the definition: the prototype is replaced. The file
    is changed in ``project`` (and on disk, where it has one).
    """
    prototype = _find(project, [h for h in project.headers() if h != path], symbol, "prototype")
    definition = _find(project, [path, *project.paths()], symbol, "function")
    if prototype is None or definition is None:
        return None
    if source == "definition":
        home, target = prototype
        head = _STORAGE.sub("", definition[1].signature)
        keep = "extern " if target.signature.startswith("extern ") else ""
        return _replace(project, home, target, keep + head, prototype=True)
    home, target = definition
    wanted = head_for(prototype[1].signature, target.signature, symbol)
    return _replace(project, home, target, wanted, prototype=False) if wanted else None


def head_for(prototype: str, definition: str, symbol: str) -> str | None:
    """The head that ``prototype`` asks for, with the parameter names of ``definition`` where the counts agree.

    Both are one line without body; the result keeps ``static`` and ``inline`` of neither. None when they cannot be read.
    """
    wanted, had = _parameters(prototype, symbol), _parameters(definition, symbol)
    if wanted is None or had is None:
        return None
    before, parameters, after = wanted
    names = [parameter_name(p) for p in had[1]] if len(had[1]) == len(parameters) else []
    parts = []
    for place, parameter in enumerate(parameters):
        own = names[place] if place < len(names) and names[place] else parameter_name(parameter)
        parts.append(with_name(parameter, own or f"arg{place + 1}"))
    return _STORAGE.sub("", f"{before}({', '.join(parts)}){after}".strip())


def parameter_name(parameter: str) -> str:
    """The name that a parameter declares, "" for an unnamed one, ``void`` and ``...``."""
    text = parameter.strip()
    if text in ("void", "...", ""):
        return ""
    if pointer := _POINTER_NAME.search(text):
        return pointer[1] or ""
    words = _NAME.findall(re.sub(r"\[[^\]]*\]", "", text))
    plain = [w for w in words if w not in KEYWORDS]
    if not plain:
        return ""
    last = plain[-1]
    if words and words[-1] != last:
        return ""
    tagged = any(w in ("struct", "union", "enum") for w in words)
    basic = any(w in KEYWORDS and w not in ("const", "volatile", "restrict", "register") for w in words) and not tagged
    return last if basic or len(plain) > 1 else ""


def with_name(parameter: str, name: str) -> str:
    """``parameter`` declaring ``name``."""
    text = parameter.strip()
    if text in ("void", "...", ""):
        return text
    own = parameter_name(text)
    if own:
        return re.sub(rf"\b{re.escape(own)}\b(?!.*\b{re.escape(own)}\b)", name, text) if own != name else text
    if pointer := re.search(r"\(\s*\*+\s*(?:const\s*|restrict\s*)*", text):
        return text[: pointer.end()] + name + text[pointer.end() :]
    if "[" in text:
        at = text.index("[")
        return f"{text[:at].rstrip()} {name}{text[at:]}"
    return text + name if text.endswith("*") else f"{text} {name}"


def _parameters(signature: str, symbol: str) -> tuple[str, list[str], str] | None:
    """The parts of a one-line head: text up to the parameter list, the parameters, text after it."""
    match = re.search(rf"\b{re.escape(symbol)}\s*\(", signature)
    if not match:
        return None
    start = match.end() - 1
    depth, parts, current = 0, [], ""
    for place in range(start, len(signature)):
        char = signature[place]
        depth += char in "([{"
        depth -= char in ")]}"
        if depth == 0:
            parts.append(current)
            parameters = [p.strip() for p in parts if p.strip()]
            return signature[:start].rstrip(), parameters, signature[place + 1 :].rstrip("; ")
        if char == "," and depth == 1:
            parts.append(current)
            current = ""
        elif place > start:
            current += char
    return None


def _find(project: ProjectFiles, paths: list[str], symbol: str, kind: str) -> tuple[str, Symbol] | None:
    for path in dict.fromkeys(paths):
        if project.mentions(path, symbol):
            for found in parse(project.source(path)).symbols:
                if found.name == symbol and found.kind == kind:
                    return path, found
    return None


def _replace(project: ProjectFiles, path: str, symbol: Symbol, head: str, *, prototype: bool) -> HeadEdit | None:
    data = project.source(path)
    end = symbol.end if prototype else symbol.body_start
    old = data[symbol.start : end]
    stripped = old.rstrip()
    tail = old[len(stripped) :]
    if not prototype:
        static = "static " if symbol.static else ""
        inline = "inline " if re.search(rb"\binline\b", stripped) else ""
        head = static + inline + head
    new = head.encode("utf-8") + (b";" if prototype else b"")
    if b" ".join(stripped.split()) == b" ".join(new.split()):
        return None
    project.write(path, data[: symbol.start] + new + tail + data[end:])
    return HeadEdit(path, symbol.line, stripped.decode("utf-8", "replace"), new.decode("utf-8", "replace"))
