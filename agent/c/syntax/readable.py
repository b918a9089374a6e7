"""C source made readable for the grammar: what is in its way is blanked, and no byte moves."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from agent.c.preprocessor import comments
from agent.c.syntax import attribute_macros
from agent.c.syntax.branches import one_branch
from agent.c.syntax.hindrances import blanked_at, dead_branches, hindrances, misleads
from agent.c.syntax.tree import parse_c
from agent.language.nodes import errors

_DIRECTIVE = re.compile(rb"#[ \t]*(\w*)((?:[^\n\\]++|\\\r?\n|\\.)*+)")
_CONSTANT_IF = re.compile(rb"#[ \t]*if[ \t]+[01]\b")
_HASH = ord("#")


class ReadTree(NamedTuple):
    """A file's tree. ``text`` is the source that was parsed; ``code`` is it without comments and literals, ``heads`` that
    without hindrances; ``wrapped`` maps a declaration to the macro around it; ``mended`` tells that something was blanked
    to read it; ``directives`` are its preprocessor lines, each from its ``#``."""

    root: tree_sitter.Node
    text: bytes
    code: bytes
    heads: bytes
    wrapped: dict[int, int]
    mended: bool
    directives: list[re.Match[bytes]]


def blanked(source: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Source with comments, strings and character constants blanked (same length), and the comments' (start, end)."""
    text, comments_of = comments.parted(source.decode("latin-1"))
    return text.encode("latin-1"), comments_of


def directives(code: bytes) -> list[re.Match[bytes]]:
    """Every preprocessor line from its ``#``, continuation lines included. Groups: the directive's word, the rest."""
    found: list[re.Match[bytes]] = []
    at = 0
    while match := _DIRECTIVE.search(code, at):
        at, start = match.end(), match.start()
        if code[code.rfind(b"\n", 0, start) + 1 : start].strip(b" \t"):  # something stands before it: no directive
            at = code.find(b"\n", start)
            if at < 0:
                break
        else:
            found.append(match)
    return found


def read_tree(source: bytes, code: bytes) -> ReadTree:
    """The tree of ``source``; ``code`` is it :func:`blanked`. Branches that no build takes are left out; if the grammar
    stumbles then, macros that declare nothing and all branches but one of those that cut through braces, too."""
    dead = dead_branches(code) if _CONSTANT_IF.search(code) else []
    code, text = (blanked_at(code, dead), blanked_at(source, dead)) if dead else (code, source)
    root, lines = parse_c(text), directives(code)
    plain = blanked_at(code, [line.span() for line in lines])
    if not root.has_error and not misleads(plain):
        return ReadTree(root, text, code, code, {}, False, lines)
    spans, wrapped = hindrances(code, plain)
    heads = blanked_at(code, spans) if spans else code
    kept = [line for line in lines if heads[line.start()] == _HASH]
    better = one_branch(blanked_at(plain, spans), kept, blanked_at(text, spans) if spans else text)
    if better == text:
        return ReadTree(root, text, code, heads, wrapped, False, lines)
    return ReadTree(parse_c(better), better, code, heads, wrapped, True, lines)


def readable(source: bytes) -> tuple[bytes, tree_sitter.Node]:
    """``source`` as the grammar can read it, and its tree: attribute-like macros are blanked where they are in its way, then
    what :func:`read_tree` blanks, where that leaves fewer errors."""
    root = parse_c(source)
    if not root.has_error and not attribute_macros.misleads(source):
        return source, root
    text = attribute_macros.without_macros(source)
    root = parse_c(text) if text != source else root
    if root.has_error:
        read = read_tree(text, blanked(text)[0])
        if len(errors(read.root)) <= len(errors(root)):
            return read.text, read.root
    return text, root
