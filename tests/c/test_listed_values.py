"""Values of an enum in the order of a document's list."""

from __future__ import annotations

import pytest

from agent.c.used import Usage, UsedType


@pytest.mark.parametrize(
    ("values", "text", "ordered"),
    [
        (("HIGH", "LOW", "MID"), "Levels:\n- low: 0\n- `mid`: 1\n- high: 2\n", ("LOW", "MID", "HIGH")),
        (("LEVEL_VERY_HIGH", "LEVEL_LOW"), "1. Low\n2. Very high\n", ("LEVEL_LOW", "LEVEL_VERY_HIGH")),
        (("HIGH", "LOW"), "| low | 0 |\n| high | 1 |\n", ("LOW", "HIGH")),
        (("HIGH", "LOW", "NONE"), "- low\n- high\n", ("HIGH", "LOW", "NONE")),  # one is not listed
        (("HIGH", "LOW"), "low comes before high\n", ("HIGH", "LOW")),  # no list
        (("HIGH",), "", ("HIGH",)),
    ],
)
def test_values_stand_as_a_document_lists_them(values: tuple[str, ...], text: str, ordered: tuple[str, ...]) -> None:
    usage = Usage(types=(UsedType("level_t", values=values), UsedType("other_t")))
    assert [one.values for one in usage.listed_by(text).types] == [ordered, ()]
