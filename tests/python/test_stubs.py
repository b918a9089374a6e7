"""Python functions that are not written yet: files of nothing but empty bodies."""

from __future__ import annotations

import pytest

from agent.python.stubs import find_stubs


def names(source: str) -> list[str]:
    return [stub.name for stub in find_stubs(source.encode())]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def encode(text):\n    pass\n\n\ndef decode(text):\n    pass\n", ["encode", "decode"]),
        (
            "class Box:\n    def __init__(self, size):\n        pass\n\n    def read(self):\n        pass\n",
            ["Box.__init__", "Box.read"],
        ),
        (
            "class Box:\n    def __init__(self, size):\n        pass\n\n    def __enter__(self):\n        pass\n",
            ["Box.__init__", "Box.__enter__"],
        ),
        (
            "class Box:\n    def read(self):\n        raise NotImplementedError\n\n"
            "    def __exit__(self, *why):\n        pass\n",
            ["Box.read"],
        ),
        (
            "class Node:\n    def __init__(self, name):\n        self.name = name\n\n\n"
            "class Graph:\n    def __init__(self, data=None):\n        pass\n",
            ["Graph.__init__"],
        ),
    ],
)
def test_a_file_where_nothing_is_written_is_a_skeleton(source: str, found: list[str]) -> None:
    assert names(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "def on_start():\n    pass\n\n\ndef add(a, b):\n    return a + b\n",
        "class Hooks:\n    def before(self):\n        pass\n\n    def after(self):\n        pass\n",
        "class Mine(Exception):\n    def __init__(self, text):\n        pass\n\n\ndef f(x):\n    return x\n",
        "from abc import ABC, abstractmethod\n\n\nclass A(ABC):\n    @abstractmethod\n    def f(self, x):\n        pass\n",
        "X = 1\n",
        "def total():\n    pass\n",
    ],
)
def test_hooks_and_single_empty_functions_are_left_alone(source: str) -> None:
    assert names(source) == []


def test_an_empty_function_that_tests_use_is_a_stub_in_a_file_where_nothing_is_written() -> None:
    assert [stub.name for stub in find_stubs(b"def total():\n    pass\n", {"total"})] == ["total"]
    robot = b"class Robot:\n    def __init__(self):\n        pass\n"
    assert [stub.name for stub in find_stubs(robot, {"Robot"})] == ["Robot.__init__"]
    assert find_stubs(b"def total():\n    pass\n\n\ndef add(a, b):\n    return a + b\n", {"total"}) == []


def test_what_tests_give_values_to_is_open_where_other_functions_are_written() -> None:
    same = b"\n    def __eq__(self, other):\n        return True\n"
    cell = b"class Cell:\n    def __init__(self, value):\n        self.value = None\n" + same
    assert [stub.name for stub in find_stubs(cell, {"Cell"})] == ["Cell.__init__"]
    assert find_stubs(cell, {"value"}) == []
    tree = b"class Tree:\n    def path(self, to):\n        pass\n" + same
    assert [stub.name for stub in find_stubs(tree, {"Tree", "path"})] == ["Tree.path"]
    assert find_stubs(tree, {"Tree"}) == []


@pytest.mark.parametrize(
    "method",
    [
        'def log(self, message):\n        """Swallows everything."""\n',
        'def log(self, message):\n        """A hook for others."""\n        pass\n',
        "@name.setter\n    def log(self, message):\n        pass\n",
        "def log(self, message):\n        pass\n\n    def run(self, n):\n        self.log(n)\n        return n\n",
    ],
)
def test_what_is_empty_on_purpose_is_not_open(method: str) -> None:
    source = f"class Quiet:\n    def name(self):\n        return 'quiet'\n\n    {method}"
    assert find_stubs(source.encode(), {"Quiet", "log"}) == []
