"""What a class offers against how it and its tests use it."""

from __future__ import annotations

from agent.python.slips.set_right import without_slips

HIDING = """class Shelf:
    def __init__(self, books):
        self.books = {}
        for place, book in enumerate(books):
            self.books[place] = book

    def books(self, place):
        return self.books[place]

    def both(self, place):
        return self.books(place), len(self.books)
"""
BARE = """class Shelf:
    NAMES = {'a': "ä"}

    def __init__(self, books):
        self.held = books

    def first(self):
        return "ä" + NAMES[held[0]] + tidy(held)

    def tidy(self, books):
        return str([book for book in books if book in held])
"""


def result(source: str, expression: str) -> object:
    space: dict[str, object] = {}
    exec(source, space)
    return eval(expression, space)


def test_an_attribute_that_hides_a_method_is_renamed() -> None:
    source, told = without_slips(HIDING.encode(), "Shelf")
    assert len(told) == 1 and "_books" in told[0]
    assert result(source.decode(), "Shelf('ab').both(1)") == ("b", 2)
    assert without_slips(source, "Shelf") == (source, ())


def test_a_bare_member_is_read_through_self() -> None:
    source, told = without_slips(BARE.encode(), "Shelf")
    assert len(told) == 3, told
    assert result(source.decode(), "Shelf(['a']).first()") == "ää['a']"


def test_a_parameter_that_tests_leave_out_has_a_default() -> None:
    source = b"class Shelf:\n    def __init__(self, books, owner: str):\n        pass\n"
    callers = [b"def test():\n    Shelf([1], 'me')\n    assert Shelf([2])\n"]
    changed, told = without_slips(source, "Shelf", callers)
    assert b"books, owner: str = None)" in changed and "owner" in told[0]
    assert without_slips(source, "Shelf", [callers[0] + b"    with raises(TypeError):\n        Shelf()\n"]) == (source, ())
    function = b"def area(width, height):\n    return width * height\n"
    assert b"height=None" in without_slips(function, "area", [b"area(2)\narea(width=2)\n"])[0]
    assert without_slips(function, "area", [b"area(*sides)\narea(2, height=3)\n"]) == (function, ())


def test_what_tests_read_without_a_call_is_a_property() -> None:
    source = b"class Shelf:\n    def size(self):\n        return 3\n\n    def open(self):\n        return self.size() > 0\n"
    assert without_slips(source, "Shelf", [b"assert shelf.size == 3\nassert shelf.open"])[0].count(b"@property") == 1
    assert without_slips(source, "Shelf", [b"shelf.open()\nf = shelf.open\n"]) == (source, ())


def test_what_cannot_be_read_or_is_not_there_is_left_alone() -> None:
    for source, name in ((b"class Shelf(:\n", "Shelf"), (b"x = 1\n", "Shelf"), (HIDING.encode(), "Shelf.none")):
        assert without_slips(source, name, [b"Shelf()"]) == (source, ())


def test_an_exception_hands_its_message_on() -> None:
    head = b'class FullError(BufferError):\n    """No room."""\n\n'
    source = head + b'    def __init__(self, message):\n        """Doc."""\n        pass\n'
    changed, told = without_slips(source, "FullError")
    assert len(told) == 1 and result(changed.decode(), "str(FullError('full'))") == "full"
    assert without_slips(changed, "FullError") == (changed, ())
    for other in (source.replace(b"message)", b"message, code)"), source.replace(b"(BufferError)", b"(Shelf)")):
        assert without_slips(other, "FullError") == (other, ())


INNER = """import math

def nth(number):
    at = 2
    while number:
        if self.is_prime(at):
            number -= 1
        at += 1
    return at - 1

    def is_prime(self, value):
        return value > 1 and all(value % one for one in range(2, math.isqrt(value) + 1))
"""


def test_an_inner_function_is_called_without_an_object_and_stands_first() -> None:
    source, told = without_slips(INNER.encode(), "nth")
    assert len(told) == 2, told
    assert result(source.decode(), "[nth(one) for one in (1, 2, 6)]") == [2, 3, 13]
    assert without_slips(source, "nth") == (source, ())


def test_inner_functions_that_call_each_other_stay_where_they_are() -> None:
    source = b"def f(n):\n    def a(k):\n        return b(k)\n\n    def b(k):\n        return k\n\n    return a(n)\n"
    assert without_slips(source, "f") == (source, ())


def test_a_helper_of_the_tests_gives_way_to_its_argument() -> None:
    source = b"def pairs(rows):\n    found = [(b, a) for a, b in rows]\n    return in_order(found)\n"
    tests = b"def in_order(pairs):\n    return sorted(pairs)\n\n\ndef test_it():\n    assert in_order(pairs([])) == []\n"
    changed, told = without_slips(source, "pairs", [tests])
    assert changed.endswith(b"return found\n") and "in_order" in told[0]
    assert without_slips(source, "pairs") == (source, ())


def test_a_name_that_nothing_binds_is_the_parameter_that_is_not_used() -> None:
    source = b"def size(question, most):\n    return min(most, len(text.split()))\n"
    changed, told = without_slips(source, "size")
    assert b"len(question.split())" in changed and len(told) == 1
    for other in (b"return text", b"return fold(most, question)", b"return len(question) + a + b"):
        left = source.replace(b"return min(most, len(text.split()))", other)
        assert without_slips(left, "size") == (left, ())


def test_a_class_that_keeps_nothing_of_what_it_is_made_with_gets_an_init() -> None:
    source = b"class Place:\n    @staticmethod\n    def at(tree):\n        return Place(tree)\n\n    def value(self):\n"
    source += b"        return self.tree['value']\n\n    def left(self):\n        return Place(self.tree['left'])\n"
    changed, told = without_slips(source, "Place")
    assert len(told) == 1
    assert result(changed.decode(), "Place.at({'value': 1, 'left': {'value': 2}}).left().value()") == 2
    assert without_slips(changed, "Place") == (changed, ())
    two = source.replace(b"Place(tree)", b"Place(tree, None)")
    assert without_slips(two, "Place") == (two, ())


def test_what_an_object_is_made_with_and_its_methods_read_is_kept() -> None:
    source = b"class Cell:\n    def __init__(self, inputs, compute):\n        self.value = None\n\n    def update(self):\n"
    source += b"        self.value = compute([one + 1 for one in self.inputs])\n        return self.value\n"
    changed, told = without_slips(source, "Cell")
    assert len(told) == 1 and "compute, inputs" in told[0]
    assert result(changed.decode(), "Cell([1, 2], sum).update()") == 5
    assert without_slips(changed, "Cell") == (changed, ())
    local = source.replace(b"compute([", b"max([").replace(b"self.inputs", b"[1]")
    assert without_slips(local, "Cell") == (local, ())
