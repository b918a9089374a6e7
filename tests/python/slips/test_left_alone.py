"""Right code that looks like a slip: no rule changes it, none ends with an error."""

from __future__ import annotations

import pytest

from agent.python.slips.set_right import without_slips

FUNCTIONS = {
    "a module whose import is missing": "def f(radius, unit):\n    return math.pi * radius**2\n",
    "a name of a module": "def f(rows, start):\n    low = inf\n    return min(low, *rows)\n",
    "a class to be raised": "def f(rows, strict):\n    if not rows:\n        raise empty\n    return rows.pop()\n",
    "a class of values": "def f(item, depth):\n    return isinstance(item, node)\n",
    "a function that is handed on": "def f(text, sep):\n    return list(map(parse_line, text))\n",
    "a key": "def f(rows, key):\n    return sorted(rows, key=by_size)\n",
    "a name bound in an inner function": "def g():\n    return total\n\n\ndef f(a, unused):\n    def add(total):\n"
    "        return total + a\n\n    return add(1)\n",
    "another function's self": "def other():\n    return self.x\n\n\ndef f(kind):\n    def greet(self):\n"
    "        return self.name\n\n    return type('A', (), {'greet': greet})\n",
    "an inner function that takes the place of another": "def f(func):\n    old = func\n\n    def func(*a):\n"
    "        return old(*a) + 1\n\n    return func\n",
    "a name before it is a function": "def f(n):\n    key = None\n    print(key)\n\n    def key(k):\n        return k\n\n"
    "    return key(n)\n",
    "a default from above": "def f(n):\n    run = lambda: go(3)\n    memo = {}\n\n    def go(x, memo=memo):\n"
    "        return memo.get(x)\n\n    return run()\n",
    "a class that calls what stands below": "def f(n):\n    class A:\n        def go(self):\n"
    "            return visit(self)\n\n    def visit(one):\n        return one\n\n    return A().go()\n",
    "a decorated inner function": "def f(rows):\n    width = 0\n    for step in rows:\n        width += show(step)\n\n"
    "    @memo(width)\n    def show(one):\n        return one\n\n    return width\n",
}
CLASSES = {
    "a local variable called like a parameter": "class A:\n    def __init__(self, size):\n"
    "        self.items = [0] * size\n\n    def room(self):\n        size = len(self.items)\n        return size\n",
    "a loop variable called like a parameter": "class A:\n    def __init__(self, x):\n        self.y = x\n\n"
    "    def f(self):\n        return [x for x in self.y]\n",
    "attributes set by name": "class A:\n    def __init__(self, x):\n        object.__setattr__(self, 'x', x)\n\n"
    "    def f(self):\n        return self.x\n",
    "attributes handed on": "class A:\n    def __init__(self, inner):\n        self.inner = inner\n\n"
    "    def __getattr__(self, name):\n        return getattr(self.inner, name)\n\n"
    "    def f(self):\n        return self.size\n",
    "attributes of the class": "class A:\n    x, y = 1, 2\n\n    def __init__(self, x):\n        self.z = x\n\n"
    "    def f(self):\n        return self.x\n",
    "a base that keeps values": "class A(Base):\n    def __init__(self, x):\n        super().__init__(x)\n\n"
    "    def f(self):\n        return self.x\n",
    "an object made by new": "class A:\n    def __new__(cls, n):\n        self = object.__new__(cls)\n        self.n = n\n"
    "        return self\n\n    def f(self):\n        return A(self.m)\n",
    "values that no call tells apart": "class A:\n    def f(self):\n        return A(self.x + 1, self.y * 2)\n",
    "a forgotten method": "class A:\n    def f(self):\n        return A(self.size())\n",
    "values given as a whole": "class A:\n    def f(self, *a):\n        return A(*a) if self.x else None\n",
    "a parameter of its own": "class A:\n    def __init__(self, items):\n        self.items = items\n\n    def f(self):\n"
    "        return sum(map(lambda items: items, self.items))\n",
}
ODD = {
    "latin-1": "# coding: latin-1\ndef f(a):\n    return g('é')\n".encode("latin-1"),
    "a lone carriage return": b"def f(a):\r    return b\n",
    "a byte order mark": b"\xef\xbb\xbfdef f(a, c):\n    return a + b\n",
    "a long chain": b"class f:\n    def g(self):\n        return self.x" + b".replace('a', 'b')" * 400 + b"\n",
    "one line": b"class f:\n    def __init__(self, x): pass\n    def g(self): return self.x\n",
}


@pytest.mark.parametrize("source", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_function_is_left_as_it_is(source: str) -> None:
    assert without_slips(source.encode(), "f") == (source.encode(), ())


@pytest.mark.parametrize("source", CLASSES.values(), ids=CLASSES.keys())
def test_a_class_is_left_as_it_is(source: str) -> None:
    assert without_slips(source.encode(), "A") == (source.encode(), ())


@pytest.mark.parametrize("source", ODD.values(), ids=ODD.keys())
def test_what_is_written_oddly_is_left_as_it_is(source: bytes) -> None:
    assert without_slips(source, "f") == (source, ())


def test_a_helper_of_the_tests_keeps_what_binds_together() -> None:
    tests = [b"def in_order(a):\n    return sorted(a)\n\n\nclass Sizes:\n    def sqrt(self, x):\n        return x\n"]
    for before, after in (
        ("in_order(in_order(a))", "a"),
        ("2 * in_order(a + 1) ** 2", "2 * (a + 1) ** 2"),
        ("in_order(a or [])[0]", "(a or [])[0]"),
        ("in_order(*a)", "in_order(*a)"),
        ("sqrt(a)", "sqrt(a)"),
    ):
        changed, _ = without_slips(f"def f(a):\n    return {before}\n".encode(), "f", tests)
        assert changed.decode() == f"def f(a):\n    return {after}\n"


def test_what_python_itself_calls_is_no_property() -> None:
    source = b"class A:\n    def __enter__(self):\n        return self\n"
    assert without_slips(source, "A", [b"assert A.__enter__ is not None\n"]) == (source, ())


def test_several_inner_functions_keep_their_order() -> None:
    source = b"def f(n):\n    return b(n) + a(n)\n\n    def b(k):\n        return a(k)\n\n    def a(k):\n        return k\n"
    changed, told = without_slips(source, "f")
    space: dict[str, object] = {}
    exec(changed, space)
    assert eval("f(2)", space) == 4 and len(told) == 1 and "b, a" in told[0]
    assert without_slips(changed, "f") == (changed, ())
