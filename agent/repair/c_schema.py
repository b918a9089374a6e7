"""Many mutants of a C function in one build: each a copy of the function, chosen by an environment variable at run time
(mutant schemata; Untch, Offutt and Harrold, ISSTA 1993)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import tree_sitter

from agent.language.base import TEST_LIMIT
from agent.language.nodes import walk
from agent.regular_files import read_inside
from agent.repair.edits import Edit, apply_edits
from agent.repair.functions import Function

VARIABLE = "CRA_MUTANT"
STEP = 100_000
"""Lines of mutant ``n`` are numbered from ``n * STEP``, so that a compiler's message tells which one it is about."""

_CHOICE = (
    "static int cra_mutant; __attribute__((constructor)) static void cra_choose(void) "
    '{ extern char *getenv(const char *); const char *s = getenv("CRA_MUTANT"); '
    "while (s && *s >= '0' && *s <= '9') cra_mutant = cra_mutant * 10 + (*s++ - '0'); }\n"
)
_LIMIT = f"""
#ifdef __linux__
extern int cra_timer(int, const long *, long *) __asm__("setitimer");
__attribute__((constructor)) static void cra_limited(void) {{ extern char *getenv(const char *);
  const char *s = getenv("{TEST_LIMIT}"); long spent[4] = {{0, 0, 0, 0}};
  while (s && *s >= '0' && *s <= '9') spent[3] = spent[3] * 10 + (*s++ - '0');
  if (spent[3]) cra_timer(2, spent, 0); }}
#endif
"""
"""Ends the program by SIGPROF after so much processor time: ITIMER_PROF is 2, a timer two pairs of seconds and
microseconds."""

_SEEN = (
    "__attribute__((constructor)) static void cra_seen(void) { extern char *getenv(const char *); "
    "extern int open(const char *, int, ...); extern int close(int); extern int getpid(void); "
    "extern long read(int, void *, unsigned long), write(int, const void *, unsigned long), "
    "readlink(const char *, char *, unsigned long); "
    'static const char *const links[3] = {"/proc/self/exe", "/proc/self/cwd", "/proc/self/fd/0"}; '
    'const char *folder = getenv("CRA_SEEN"); char text[4096]; '
    "int at = 0, p = getpid(), q = 1000000000, to, from, i; long n; "
    "if (!folder) return; while (folder[at] && at < 4000) { text[at] = folder[at]; at++; } text[at++] = '/'; "
    "for (; q; q /= 10) text[at++] = (char)('0' + p / q % 10); text[at] = 0; "
    "if ((to = open(text, FLAGS, 0600)) < 0) return; "
    "for (i = 0; i < 3; i++) { n = readlink(links[i], text, sizeof text - 1); if (n < 0) n = 0; text[n++] = 0; "
    "if (write(to, text, (unsigned long)n) < 0) return; } "
    'if ((from = open("/proc/self/cmdline", 0)) >= 0) { n = read(from, text, sizeof text); '
    "if (n > 0 && write(to, text, (unsigned long)n) < 0) return; close(from); } close(to); }\n"
).replace("FLAGS", str(os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
"""Notes how the program was started: program, folder, what standard input is, arguments, each ended by a zero."""

SEEN_VARIABLE = "CRA_SEEN"
_STORAGE = re.compile(r"\b(?:static|extern|inline|__inline__|_Noreturn)\b\s*")


class Unsuited(Exception):
    """The function cannot be copied: its arguments cannot be handed on."""


def schema(function: Function, mutants: Sequence[tuple[Edit, ...]], *, seen: bool = False) -> bytes:
    """The file with all mutants in it; mutant 0 is the function as it is, ``n`` the n-th of ``mutants``. With ``seen`` the
    program notes how it is started, in the folder that ``SEEN_VARIABLE`` names.

    Raises:
        Unsuited: for K&R definitions, ``...`` and parameters without a plain name.
    """
    source, node = function.source, function.node
    name_node = _name_node(node)
    names = _parameter_names(node)
    head = source[node.start_byte : function.body.start_byte]
    at = name_node.start_byte - node.start_byte
    name = name_node.text or b""
    plain = head.decode("utf-8", "surrogateescape").strip()
    clones = []
    cases = []
    void = _returns_nothing(node)
    for number, edits in enumerate(mutants, 1):
        copy = f"{name.decode()}__cra{number}"
        renamed = head[:at] + copy.encode() + head[at + len(name) :]
        declared = _STORAGE.sub("", renamed.decode("utf-8", "surrogateescape")).strip()
        shifted = tuple(Edit(one.path, one.start - function.body.start_byte, one.end - function.body.start_byte, one.text)
                        for one in edits)  # fmt: skip
        if any(one.start < 0 or one.end > function.body.end_byte - function.body.start_byte for one in shifted):
            raise Unsuited("an edit lies outside of the body")
        body = apply_edits(source[function.body.start_byte : function.body.end_byte], shifted)
        text = body.decode("utf-8", "surrogateescape")
        if name == b"main":
            text = text.rstrip()[:-1] + " return 0; }"
        clones.append(f"#line {number * STEP}\nstatic {declared} {text}\n")
        call = f"{copy}({', '.join(names)})"
        cases.append(f"case {number}: {call}; return;" if void else f"case {number}: return {call};")
    before = "" if name == b"main" else f"{plain};\n"
    line = node.start_point[0] + 1
    top = _CHOICE + _LIMIT + (_SEEN if seen else "") + before + "".join(clones) + f"#line {line}\n"
    switch = f" switch (cra_mutant) {{ {' '.join(cases)} default: break; }} "
    start = function.body.start_byte + 1
    return (
        source[: node.start_byte] + top.encode("utf-8", "surrogateescape") + source[node.start_byte : start]
        + switch.encode() + source[start:]
    )  # fmt: skip


class Start(msgspec.Struct, frozen=True):
    """How a program was started. ``stdin`` is the file that was its standard input, "" for none."""

    program: str
    folder: str
    stdin: str
    arguments: tuple[str, ...]


def starts(folder: Path) -> list[Start]:
    """What programs noted in ``folder``, in the order in which they were started."""
    found = []
    for file in sorted(folder.iterdir()):
        try:
            parts = read_inside(folder, file).decode("utf-8", "surrogateescape").split("\0")
        except OSError:  # the programs that note it can put anything there
            continue
        if len(parts) >= 5:
            found.append(Start(parts[0], parts[1], parts[2], tuple(parts[4:-1])))
    return found


def refused(output: str, path: str) -> set[int]:
    """Numbers of the mutants that the compiler refuses; 0 stands for the rest of the file."""
    name = re.escape(path.rpartition("/")[2])
    lines = re.findall(rf"{name}:(\d+):(?:\d+:)? (?:fatal )?error:", output)
    return {int(line) // STEP for line in lines}


def _name_node(node: tree_sitter.Node) -> tree_sitter.Node:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "identifier":
        declarator = declarator.child_by_field_name("declarator")
    if declarator is None:
        raise Unsuited("the function has no plain name")
    return declarator


def _parameter_names(node: tree_sitter.Node) -> list[str]:
    declarator = node.child_by_field_name("declarator")
    parameters = next((one for one in walk(declarator) if one.type == "parameter_list"), None) if declarator else None
    if parameters is None or any(child.type == "declaration" for child in node.children):
        raise Unsuited("the parameters cannot be read")
    names = []
    for child in parameters.named_children:
        if child.type == "comment":
            continue
        if child.type != "parameter_declaration":
            raise Unsuited("the parameters cannot be handed on")
        inner = child.child_by_field_name("declarator")
        if inner is None:
            kind = child.child_by_field_name("type")
            if kind is not None and kind.text == b"void" and len(parameters.named_children) == 1:
                return []
            raise Unsuited("a parameter has no name")
        found = next((one for one in walk(inner) if one.type == "identifier"), None)
        if found is None:
            raise Unsuited("a parameter has no name")
        names.append((found.text or b"").decode())
    return names


def _returns_nothing(node: tree_sitter.Node) -> bool:
    kind, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    return kind is not None and kind.text == b"void" and declarator is not None and declarator.type == "function_declarator"
