"""Undefined names in Python are found as facts, and standard imports supplied."""

from __future__ import annotations

import pytest

from agent.python.names import _HOME_OF, undefined_names, with_imports


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os\ndef f(a, *b, c=1, **d):\n    x = a\n    return x + len(b) + c + os.sep\n", set()),
        ("def f():\n    return math.ceil(missing)\n", {"math", "missing"}),
        ("class A:\n    n = 1\n    def f(self):\n        return [i for i in range(self.n)], __class__\n", set()),
        ("def f():\n    def g():\n        return h()\n    def h():\n        return g\n    return g\n", set()),
        ("def f():\n    return g()\ndef g():\n    return f\n", set()),
        ("from x import *\nprint(anything)\n", set()),
        ("def f():\n    global counter\n    counter = 1\ndef g():\n    return counter\n", set()),
        ("try:\n    pass\nexcept ValueError as error:\n    print(error)\nwith open('x') as h:\n    h\n", set()),
        ("if __name__ == '__main__':\n    print(__file__)\n", set()),
        ("def f(x: Optional[int]) -> Path: ...\n", {"Optional", "Path"}),
        ("match x:\n    case [a, *b]:\n        print(a, b)\n", {"x"}),
        ("lambda q: q + r\n", {"r"}),
        ("def f(x: 'Decimal') -> None: ...\n", {"Decimal"}),
        ("class A:\n    here = __module__, __qualname__\nprint(__spec__, __doc__, __annotations__)\n", set()),
        ("[z for z in range(3)]\nprint(z)\n", {"z"}),
        ("class A:\n    size = 3\n    def f(self):\n        return size\n", {"size"}),
        ("def broken(:\n", set()),
        ("(y := 1)\nprint(y)\n", set()),
    ],
)
def test_undefined_names(source: str, names: set[str]) -> None:
    assert undefined_names(source.encode()) == names


def test_known_homes_are_imported_after_the_last_import() -> None:
    source = b'"""Doc."""\r\nimport os\r\n\r\ndef f(x: Optional[int]):\r\n    return math.ceil(x), thing, json\r\n'
    data, lines = with_imports(source, {"Optional", "math", "thing", "json"})
    assert lines == ("from typing import Optional", "import math")
    assert data == source.replace(b"import os\r\n", b"import os\r\nfrom typing import Optional\r\nimport math\r\n")


def test_a_future_import_and_a_docstring_stay_first() -> None:
    data, _ = with_imports(b'"""Doc."""\nx = math.pi\n', {"math"})
    assert data == b'"""Doc."""\nimport math\nx = math.pi\n'
    data, _ = with_imports(b"x = math.pi\n", {"math"})
    assert data == b"import math\nx = math.pi\n"


@pytest.mark.parametrize("name", sorted(_HOME_OF))
def test_every_name_of_the_table_is_in_its_module(name: str) -> None:
    source, lines = with_imports(f"x = {name}\n".encode(), [name])
    assert lines and undefined_names(source) == set()
    exec(lines[0], {})
