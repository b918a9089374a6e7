"""Which method of a class is written anew when a part of its tests pass."""

from __future__ import annotations

from agent.flow.class_parts import ClassParts
from tests.flow.test_test_contract import contract

CLASS = b"""class Box:
    def __init__(self):
        self.held = []

    def put(self, one):
        self.held.append(one)

    def take(self):
        return self.held[0]

    def clear(self):
        self.held = []
"""
TESTS = b"""from box import Box

def test_put():
    box = Box()
    box.put(1)
    assert box.held == [1]

def test_take():
    box = Box()
    box.put(1)
    assert box.take() == 1

def test_clear():
    box = Box()
    box.put(1)
    box.clear()
    assert box.held == []
"""


def parts() -> ClassParts:
    return ClassParts(contract(box_test__py=TESTS))


def test_the_method_that_failing_tests_use_most_comes_first_and_each_once() -> None:
    choosing = parts()
    chosen = [choosing.to_blame("box.py", CLASS, "Box", ["test_take"]) for _ in range(3)]
    assert chosen == ["Box.take", "Box.put", ""]
    changed = CLASS.replace(b"[0]", b"[-1]")
    assert choosing.to_blame("box.py", changed, "Box", ["test_take"]) == "Box.take"


def test_a_function_or_a_class_with_one_method_has_no_parts() -> None:
    assert parts().to_blame("box.py", b"def take():\n    return 1\n", "take", ["test_take"]) == ""
    assert parts().to_blame("box.py", b"class Box:\n    def take(self):\n        return 1\n", "Box", ["test_take"]) == ""


def test_of_the_examples_of_a_class_those_that_use_the_method_are_told() -> None:
    assert parts().examples("Box.take", "python") == ("box = Box()\nbox.put(1)\nassert box.take() == 1",)
