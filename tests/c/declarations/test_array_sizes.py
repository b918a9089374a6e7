"""Heads whose arrays have sizes that are parameters."""

from __future__ import annotations

from agent.c.declarations.signature import definition_head, prototype_of


def test_a_size_has_the_name_that_its_parameter_gets() -> None:
    declared = prototype_of("int sum(int rows, int columns, int grid[rows][columns]);")
    assert declared is not None
    assert definition_head(declared, ["r", "", "g"]) == "int sum(int r, int columns, int g[r][columns])"
