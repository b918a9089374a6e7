"""Lines are counted as compilers and Python count them: a form feed or a Unicode separator begins no new one."""

from __future__ import annotations

import ast
import time
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from agent.coding.replace import replace_symbol
from agent.coding.writing.candidates import compile_trouble
from agent.coding.writing.documentation import add_comment, undocumented
from agent.python.equality import same_code
from agent.python.names import with_imports
from agent.textfile import lines_of, read_text
from agent.values import Diagnostic


class Compiled(NamedTuple):
    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    includes: tuple[tuple[str, str], ...] = ()
    context: str = ""


ODD = 'import re\n\x0c\nNAME = "a\u2028b\x1cc"\n\x0c\n\ndef area(r):\n    return r * r\n\n\ndef other():\n    return re\n'


def test_a_docstring_goes_where_it_belongs_behind_form_feeds() -> None:
    source = ODD.encode()
    symbols = {one.name: one for one in undocumented("a.py", None, source)}
    assert symbols["area"].symbol.source == "def area(r):\n    return r * r\n"
    result = add_comment(source, symbols["area"], "Squares.")
    assert result.ok and b'def area(r):\n    """Squares."""\n    return r * r\n' in result.data
    assert same_code(source, result.data)


def test_imports_and_helpers_go_between_lines_behind_form_feeds() -> None:
    source = ODD.encode()
    data, added = with_imports(source.replace(b"r * r", b"math.pi * r * r"), ["math"])
    assert added == ("import math",) and data.startswith(b"import re\nimport math\n\x0c\n")
    reply = "```python\nimport math\n\ndef half(x):\n    return x / 2\n\ndef other():\n    return half(math.pi)\n```"
    result = replace_symbol(source, "python", "other", reply, path="a.py")
    assert result.ok and ast.parse(result.data)
    assert b"\n\x0c\n\ndef area(r):\n    return r * r\n\n\ndef half(x):\n    return x / 2\n\n\ndef other" in result.data


def test_a_diagnostic_quotes_the_line_it_means() -> None:
    source = b"int a;\n\x0c\nint b = c;\n"
    report = Compiled(False, (Diagnostic("error", "'c' undeclared", "a.c", 3, 9),))
    assert "int b = c;" in compile_trouble(report, "a.c", source)


def test_prose_after_code_is_cut_off_in_no_long_time() -> None:
    body = "".join(f"    total += {n}\n" for n in range(3000))
    reply = f"def area(r):\n    total = 0\n{body}    return total\n" + "This function adds numbers up, as asked.\n" * 600
    started = time.process_time()
    result = replace_symbol(ODD.encode(), "python", "area", reply, path="a.py")
    assert result.ok and time.process_time() - started < 3


@given(st.text(alphabet="a\n\r\x0c\x1c\u2028\x85 ", max_size=40))
def test_lines_lose_nothing_and_end_where_python_ends_them(text: str) -> None:
    lines = lines_of(text)
    assert "".join(lines) == text
    assert lines == [line.decode() for line in text.encode().splitlines(True)]


CODECS = ("shift_jis", "utf-7", "utf-8-sig", "hex", "nonsense")


def test_a_declared_encoding_is_kept_and_used() -> None:
    source = "# -*- coding: koi8-r -*-\nNAME = 'да'\n\n\ndef f():\n    return NAME\n".encode("koi8-r")
    assert read_text(source).encoding == "koi8-r"
    result = replace_symbol(source, "python", "f", "```python\ndef f():\n    return NAME + 'нет'\n```", path="a.py")
    assert result.ok and result.data == source.replace(b"return NAME", "return NAME + 'нет'".encode("koi8-r"))
    assert read_text("# coding: hex\nx = 'ä'\n".encode("latin-1")).encoding == "latin-1"


@given(st.binary(max_size=60), st.sampled_from([b"", *(f"# coding: {name}\n".encode() for name in CODECS)]))
def test_every_byte_comes_back(data: bytes, head: bytes) -> None:
    file = read_text(head + data)
    assert file.encode(file.text) == head + data
