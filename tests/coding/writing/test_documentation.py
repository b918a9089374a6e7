"""The documentation pass: comments go in, code does not move, and that is proven."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.coding.files import FolderFiles
from agent.coding.writing.documentation import add_comment, comment_text, document, undocumented
from agent.languages import named
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

C = b"#include <stdio.h>\n\nstatic int hidden(void) { return 1; }\n\nint shown(int a)\n{\n    return a; /* x */\n}\n"
PY = b"class A:\n    def f(self):\n        return 1\n\n    def _g(self):\n        return 2\n\n\ndef h(x): return x\n"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (b"int a; // x", b"/* y */ int a;", True),
        (b"int a;", b"int  a ;\n", True),
        (b"int a;", b"int b;", False),
        (b'char *s = "/* x */";', b'char *s = "/* y */";', False),
        (b"#define A 1 /* one */\n", b"#define A 1\n", True),
        (b"#define A 1\nint b;", b"#define A 1 int b;", False),
        (b"a /* x */ b", b"a b", True),
        (b"int a = '\"';// \"\n", b"int a = '\"';\n", True),
    ],
)
def test_c_code_is_compared_without_comments(before: bytes, after: bytes, same: bool) -> None:
    assert named("c").same_code(before, after) is same


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (b"def f():\n    return 1\n", b"def f():\n    '''Doc.'''\n    return 1  # one\n", True),
        (b"def f():\n    'Doc.'\n", b"def f():\n    pass\n", True),
        (b"x = 1\n", b"x = 2\n", False),
        (b"x = 'a'\n", b"x = 'b'\n", False),
        (b"x = 1\n", b"x = (\n", False),
    ],
)
def test_python_code_is_compared_without_docstrings(before: bytes, after: bytes, same: bool) -> None:
    assert named("python").same_code(before, after) is same


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Returns a.", "Returns a."),
        ("/** Returns a. */", "Returns a."),
        ("/**\n * Returns a.\n * Or b.\n */", "Returns a.\nOr b."),
        ('"""Returns a."""', "Returns a."),
        ("// Returns a.", "Returns a."),
        ("```c\n/** Returns a. */\nint shown(int a) { return 2; }\n```", "Returns a."),
        ("Returns a.\n\nNote that it is good.", "Returns a."),
        ("int shown(int a) {\n    return a;\n}", ""),
        ("", ""),
        ("Ends */ int x;", ""),
    ],
)
def test_the_text_of_a_comment_in_any_dress(reply: str, text: str) -> None:
    assert comment_text(reply) == text


def test_only_public_changed_symbols_without_a_comment_are_asked_for() -> None:
    assert [one.name for one in undocumented("a.c", None, C)] == ["shown"]
    assert undocumented("a.c", C, C) == []
    assert [one.name for one in undocumented("a.py", None, PY)] == ["A", "A.f", "h"]


def test_a_comment_goes_in_front_and_a_docstring_inside() -> None:
    [shown] = undocumented("a.c", None, C)
    assert add_comment(C, shown, "Returns a.").data == C.replace(b"int shown", b"/** Returns a. */\nint shown")
    crlf = C.replace(b"\n", b"\r\n")
    [shown] = undocumented("a.c", None, crlf)
    data = add_comment(crlf, shown, "Returns a.\nOr b.").data
    assert b"/**\r\n * Returns a.\r\n * Or b.\r\n */\r\nint shown" in data
    method = undocumented("a.py", None, PY)[1]
    assert b'    def f(self):\n        """Does f."""\n        return 1\n' in add_comment(PY, method, "Does f.").data


def test_a_one_line_body_is_left_alone() -> None:
    one_line = undocumented("a.py", None, PY)[2]
    assert not add_comment(PY, one_line, "Returns x.").ok


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_no_reply_can_change_code(reply: str) -> None:
    for path, source in (("a.c", C), ("a.py", PY)):
        for symbol in undocumented(path, None, source)[:1]:
            result = add_comment(source, symbol, comment_text(reply))
            assert named("c" if path == "a.c" else "python").same_code(source, result.data)


async def test_the_pass_asks_once_a_symbol_and_skips_what_a_header_documents(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.c").write_bytes(C)
    (root / "a.py").write_bytes(PY)
    (root / "b.h").write_bytes(b"/** Two. */\nint two(void);\n")
    (root / "b.c").write_bytes(b'#include "b.h"\nint two(void) { return 2; }\n')
    files = FolderFiles(root)
    script = [("A.f", "int x = 1;"), ("comment of", "Does it.")]
    async with ScriptedServer(script) as server, run_context(tmp_path, server) as ctx:
        results = await document(ctx, dict.fromkeys(["a.c", "a.py", "b.h", "b.c"]), files=files, task="t")
    assert len(server.calls) == 4 and [result.ok for result in results] == [True, True, False, False]
    assert b'class A:\n    """Does it."""\n    def f' in files.read_bytes("a.py")
    assert b"/** Does it. */\nint shown" in files.read_bytes("a.c")


def test_overloads_setters_and_names_that_come_twice() -> None:
    source = (
        b"from typing import overload\n\n\n@overload\ndef f(x: int) -> int: ...\n\n\n"
        b"@overload\ndef f(x: str) -> str: ...\n\n\n"
        b"def f(x):\n    return x\n\n\nclass A:\n    @property\n    def p(self):\n        return 1\n\n"
        b"    @p.setter\n    def p(self, value):\n        self.q = value\n\n\nif f:\n    pass\n\n\ndef f(y):\n    return y\n"
    )
    found = undocumented("a.py", None, source)
    assert [(one.name, one.symbol.place) for one in found] == [("f", 12), ("A", 16), ("A.p", 18), ("f", 30)]
    for one in found:
        assert add_comment(source, one, "Says it.").ok
    assert b'def f(y):\n    """Says it."""\n' in add_comment(source, found[-1], "Says it.").data
