"""Examples that a text states of a function: only literal ones count."""

from __future__ import annotations

import pytest

from agent.coding.stated import stated_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gcd(12, 18) → 6, and gcd(3,4) == 1.", ["gcd(12, 18) → 6", "gcd(3,4) → 1"]),
        (">>> gcd(12, 18)\n6\n", ["gcd(12, 18) → 6"]),
        ("`gcd(8, 4)` returns `4`; gcd(0, 0) should return 0", ["gcd(8, 4) → 4", "gcd(0, 0) → 0"]),
        ('gcd("a(b", \'c\') gives "x"', ['gcd("a(b", \'c\') → "x"']),
        ("gcd([1, 2]) is [3]; gcd(-1.5) => -0.5", ["gcd([1, 2]) → [3]", "gcd(-1.5) → -0.5"]),
        ("gcd(1) == 2 here and gcd(1) == 3 there", []),
        ("gcd(5, x) returns 4; gcd(3, 9) is 3rd; gcd(1, 1) is an error; m.gcd(1) == 2; ogcd(1) == 2", []),
        ("gcd(1,\n2) == 3; gcd(", []),
    ],
)
def test_what_is_literal_is_stated(text: str, shown: list[str]) -> None:
    assert [one.shown for one in stated_of("gcd", text)] == shown
