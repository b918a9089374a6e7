"""Time and size are linear in the bytes of a file, whatever stands in it: twice the input, at most three times the work.

Work is counted in lines of Python that run, which no other load on the machine can change, and in the bytes of the index.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from agent.index.extract import Extract, extract


def _nested(count: int) -> str:
    opened = "".join(f"struct s{i} {{ int a{i};\n" for i in range(count))
    return "struct outer {\n" + opened + "".join(f"}} m{i};\n" for i in range(count)) + "};\n"


def _branches(count: int) -> str:
    return "".join(f"#ifdef A{i}\nint f{i}(void) {{\n#else\nint g{i}(void) {{\n#endif\nreturn 1; }}\n" for i in range(count))


KINDS: dict[str, Callable[[int], str]] = {
    "names.c": lambda n: "int " + ", ".join(f"name_number_{i}" for i in range(n)) + ";\n",
    "nested.c": lambda n: _nested(n // 2),
    "enum.c": lambda n: "enum e {\n" + "".join(f"    VALUE_{i},\n" for i in range(n)) + "};\n",
    "parameters.c": lambda n: "int f(" + ", ".join(f"int p{i}" for i in range(n)) + ");\n",
    "comment.c": lambda n: "".join(f"// words of line {i}\n" for i in range(n)) + "int f(void) { return 1; }\n",
    "branches.c": _branches,
    "macros.c": lambda n: "".join(f"#define M{i}(x) ((x) + {i})\n" for i in range(n)),
    "macro_lines.c": lambda n: "".join(f"GIT_PATH(name{i})\n" for i in range(n)) + "int f(void) { return 1; }\n",
    "parentheses.c": lambda n: "int x = " + "(" * n + "1" + ")" * n + ";\n",
    "braces.c": lambda n: "{" * n,
    "string.c": lambda n: 'const char *s = "' + "word " * n + '";\n',
    "comment.py": lambda n: "".join(f"# words of line {i}\n" for i in range(n)) + "def f():\n    return 1\n",
    "definitions.py": lambda n: "".join(f"# c\ndef f{i}():\n    return {i}\n" for i in range(n)),
    "targets.py": lambda n: ", ".join(f"a{i}" for i in range(n)) + " = range(1)\n",
    "chain.py": lambda n: " = ".join(f"a{i}" for i in range(n // 4)) + " = 1\n",
    "table.py": lambda n: "TABLE = {\n" + "".join(f"    'key{i}': {i},\n" for i in range(n)) + "}\n",
}


def _work(root: Path, name: str, text: str) -> tuple[int, int]:
    """(lines of Python that ran, bytes that would be stored) to take in one file."""
    (root / name).write_text(text)
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = extract(root, name, 1 << 24, "")
    finally:
        sys.settrace(before)
    assert found is not None and not found.reason
    return lines, _stored(found)


def _stored(found: Extract) -> int:
    rows = sum(len(part) for _, *parts in found.rows for part in parts)
    return rows + len(found.symbols) + len(found.links) + len(found.uses) + sum(len(name) + 8 for name, _ in found.names)


@pytest.mark.parametrize("name", KINDS)
def test_twice_the_input_is_at_most_three_times_the_work(tmp_path: Path, name: str) -> None:
    small, large = (_work(tmp_path, name, KINDS[name](count)) for count in (300, 600))
    assert large[0] <= 3 * small[0] + 500
    assert large[1] <= 3 * small[1] + 500


def test_a_row_is_bounded(tmp_path: Path) -> None:
    """A declaration of thousands of names is read once, not once a name."""
    text = KINDS["names.c"](2000)
    _, stored = _work(tmp_path, "names.c", text)
    assert stored < 8 * len(text)
