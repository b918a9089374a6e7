"""Whole-symbol replacement: indentation, decorators, helpers, imports, and nothing else touched."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.coding.replace import find_symbol, replace_symbol, symbol_source

PY = b'''"""Doc."""
import os

LIMIT = 3


class Tracker:
    """Tracks."""

    @property
    def left(self) -> int:
        """What is left."""
        return self.total - self.used

    def can_fit(self, n: int) -> bool:
        # off by one
        return n < self.left


def can_fit(x):
    return x
'''
NEW = "def can_fit(self, n: int) -> bool:\n    if n < 0:\n        return False\n    return n <= self.left"
EXPECTED = PY.replace(
    b"        # off by one\n        return n < self.left\n",
    b"        if n < 0:\n            return False\n        return n <= self.left\n",
)

METHOD_REPLIES = {
    "dedented": f"```python\n{NEW}\n```",
    "with its indentation": "```python\n    " + NEW.replace("\n", "\n    ") + "\n```",
    "first line dedented": "```python\n" + NEW.replace("\n", "\n    ") + "\n```",
    "in its class": "```python\nclass Tracker:\n    " + NEW.replace("\n", "\n    ") + "\n```",
    "no fence": "Here is the fix:\n\n" + NEW + "\n\nIt now accepts equality.",
    "crlf": f"```python\n{NEW}\n```".replace("\n", "\r\n"),
    "old then new": f"Change\n```python\ndef can_fit(self, n):\n    return n < self.left\n```\nto\n```python\n{NEW}\n```",
}


@pytest.mark.parametrize("kind", METHOD_REPLIES)
def test_a_method_is_replaced_in_place(kind: str) -> None:
    result = replace_symbol(PY, "python", "Tracker.can_fit", METHOD_REPLIES[kind], path="t.py")
    assert result.ok, result.reason
    assert result.data == EXPECTED
    assert (result.removed, result.added) == (2, 3)


def test_decorators_stay_when_the_reply_leaves_them_out_and_are_replaced_when_it_brings_its_own() -> None:
    plain = replace_symbol(PY, "python", "Tracker.left", "def left(self) -> int:\n    return 1")
    assert plain.ok and b"    @property\n    def left(self) -> int:\n        return 1\n" in plain.data
    own = replace_symbol(PY, "python", "Tracker.left", "@cached\ndef left(self) -> int:\n    return 1")
    assert own.ok and b"    @cached\n    def left(self) -> int:\n        return 1\n" in own.data
    assert b"@property" not in own.data


def test_a_definition_that_takes_the_name_of_its_import_uses_it_through_the_module() -> None:
    reply = (
        "```python\nfrom itertools import product\n\n\ndef product(sizes, n):\n"
        "    return [sum(one) for one in product(sizes, repeat=n)]\n```"
    )
    result = replace_symbol(b"def product(sizes, n):\n    pass\n", "python", "product", reply)
    space: dict[str, object] = {}
    exec(result.data, space)
    assert eval("product([1, 2], 2)", space) == [2, 3, 3, 4]


@pytest.mark.parametrize("after", ["assert twice(2) ==", "print(twice(", "Here is how:"])
def test_what_does_not_parse_behind_the_definition_does_no_harm(after: str) -> None:
    old = b"def twice(n):\n    pass\n"
    result = replace_symbol(old, "python", "twice", f"```python\ndef twice(n):\n    return 2 * n\n\n{after}\n```")
    assert result.ok and result.data == b"def twice(n):\n    return 2 * n\n"
    inside = replace_symbol(old, "python", "twice", "```python\ndef twice(n):\n    m = n +\n    return m\n```")
    assert not inside.ok


def test_an_import_and_a_helper_that_are_used_come_along_once() -> None:
    reply = (
        "```python\nimport math\nimport os\nimport json\n\ndef half(n):\n    return n / 2\n\n"
        "class Tracker:\n    def can_fit(self, n):\n        return math.ceil(half(n)) <= self.left and os\n```"
    )
    result = replace_symbol(PY, "python", "Tracker.can_fit", reply)
    assert result.ok
    text = result.data.decode()
    assert text.startswith('"""Doc."""\nimport os\nimport math\n') and "json" not in text
    assert text.index("def half") < text.index("class Tracker") and text.count("import os") == 1
    ast.parse(text)


def test_the_inside_of_a_string_does_not_move() -> None:
    reply = 'def can_fit(self, n):\n    return """\n  two\n    four\n"""'
    result = replace_symbol(PY, "python", "Tracker.can_fit", reply)
    assert result.ok and b'        return """\n  two\n    four\n"""\n' in result.data


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("```python\ndef other(self):\n    return 1\n```", "does not define Tracker.can_fit"),
        ("```python\ndef can_fit(self:\n```", "not valid Python"),
        ("", "no code"),
        (
            f"```python\n{METHOD_REPLIES['dedented'][10:-4]}\n```".replace("n < 0", "n <").replace("<=", "<"),
            "not valid Python",
        ),
    ],
)
def test_a_bad_reply_changes_nothing_and_says_why(reply: str, says: str) -> None:
    result = replace_symbol(PY, "python", "Tracker.can_fit", reply)
    assert not result.ok and says in result.reason and result.data == PY


def test_the_same_again_is_no_change() -> None:
    result = replace_symbol(PY, "python", "can_fit", "def can_fit(x):\n    return x")
    assert not result.ok and "same" in result.reason


def test_crlf_and_tabs_are_kept() -> None:
    source = b"class A:\r\n\tdef f(self):\r\n\t\treturn 1\r\n"
    result = replace_symbol(source, "python", "A.f", "def f(self):\n    if self:\n        return 2\n    return 3")
    assert result.ok and result.data == b"class A:\r\n\tdef f(self):\r\n\t\tif self:\r\n\t\t\treturn 2\r\n\t\treturn 3\r\n"


def test_a_constant_and_a_class_are_symbols_too() -> None:
    assert replace_symbol(PY, "python", "LIMIT", "```python\nLIMIT = 4\n```").data == PY.replace(b"LIMIT = 3", b"LIMIT = 4")
    result = replace_symbol(PY, "python", "Tracker", "class Tracker:\n    x = 1")
    assert result.ok and b"class Tracker:\n    x = 1\n\n\ndef can_fit(x)" in result.data


C = b"""#include "a.h"
#define SIZE 4
typedef struct node { int v; } node_t;
struct table { int n; };

/* Adds. */
static int add(int a, int b)
{
    return a - b;
}
"""


def test_c_symbols_of_every_kind() -> None:
    function = replace_symbol(C, "c", "add", "```c\nstatic int add(int a, int b)\n{\n    return a + b;\n}\n```")
    assert function.data == C.replace(b"a - b", b"a + b")
    macro = replace_symbol(C, "c", "SIZE", "#define SIZE 8")
    assert macro.data == C.replace(b"SIZE 4", b"SIZE 8")
    table = replace_symbol(C, "c", "table", "```c\nstruct table {\n    int n, cap;\n};\n```")
    assert table.data == C.replace(b"struct table { int n; };", b"struct table {\n    int n, cap;\n};")
    node = replace_symbol(C, "c", "node", "typedef struct node { long v; } node_t;")
    assert node.data == C.replace(b"int v", b"long v")


def test_the_source_of_a_symbol_is_shown_with_its_indentation() -> None:
    assert symbol_source(PY, "python", "Tracker.can_fit").startswith("    def can_fit(self")
    assert symbol_source(PY, "python", "nothing") == ""


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["left", "can_fit"]), st.integers(0, 9),
    st.text(alphabet="abc #\u00e9", max_size=10),
)  # fmt: skip
def test_replacing_and_putting_back_is_identity(newline: str, bom: bool, name: str, number: int, tail: str) -> None:
    source = PY.decode().replace("\n", newline).encode() + f"# {tail}".encode()
    source = b"\xef\xbb\xbf" + source if bom else source
    old = symbol_source(source, "python", f"Tracker.{name}")
    there = replace_symbol(source, "python", f"Tracker.{name}", f"def {name}(self, n=0):\n    return {number} + 91")
    assert there.ok, there.reason
    symbol, new = find_symbol(source, "python", f"Tracker.{name}"), find_symbol(there.data, "python", f"Tracker.{name}")
    assert symbol and new and there.data[: new.start] == source[: symbol.start]
    assert there.data[new.end :] == source[symbol.end :]
    back = replace_symbol(there.data, "python", f"Tracker.{name}", f"```python\n{old}\n```")
    assert back.ok and back.data == source


@settings(max_examples=80, deadline=None)
@given(
    st.text(alphabet=st.sampled_from(list("def can_fit(self):\n`\"'@ #")), max_size=60),
    st.sampled_from(["c", "python"]),
)
def test_no_reply_raises(noise: str, language: str) -> None:
    source, name = (C, "add") if language == "c" else (PY, "can_fit")
    result = replace_symbol(source, language, name, noise)
    assert result.ok or result.data == source


def test_a_definition_that_cannot_be_read_costs_the_others_nothing() -> None:
    reply = "```python\nimport math\n\ndef can_fit(x):\n    return gcd(x) > math.e\n\ndef find MMI(a):\n    return a\n\n"
    reply += "@cache\ndef gcd(x):\n    return x\n```"
    result = replace_symbol(PY, "python", "can_fit", reply, path="t.py")
    assert result.ok, result.reason
    assert b"return gcd(x) > math.e" in result.data and b"@cache\ndef gcd" in result.data and b"MMI" not in result.data
    broken = replace_symbol(PY, "python", "can_fit", reply.replace("> math.e", "> > math.e"), path="t.py")
    assert not broken.ok and "invalid syntax" in broken.reason
