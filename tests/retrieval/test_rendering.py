"""What the coding model gets to see: full source, signatures, contracts from headers, types that are needed, budgets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.config.schema import Config
from agent.index import Index
from agent.models.budget import estimate_tokens
from agent.retrieval import without_model
from agent.retrieval.assembly import trim
from agent.retrieval.rendering import blocks_of, render
from agent.retrieval.types import ScopedSymbol
from agent.values import DetailLevel
from tests.retrieval.repos import write

HEADER = """#ifndef RING_H
#define RING_H
#include <stddef.h>

/* A ring of ints. */
typedef struct ring {
    size_t count;
} ring;

/* Adds a value. Returns 0 when full. */
int ring_push(ring *r, int value);
#endif
"""
SOURCE = """#include "ring.h"
#include <string.h>

static int full(const ring *r)
{
    return r->count > 3;
}

int ring_push(ring *r, int value)
{
    return !full(r) && value;
}
"""
NOTES = "Rings hold four values.\n"
PYTHON = '''import os
from typing import Any

LIMIT = 4


class Box:
    """A box."""

    def put(self, value: Any) -> bool:
        """Puts a value in."""
        return os.path.exists(value) and LIMIT > 3
'''


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    write(tmp_path, {"ring.h": HEADER, "ring.c": SOURCE, "NOTES.md": NOTES, "box.py": PYTHON, "empty.py": ""})
    opened = Index.open(tmp_path)
    opened.refresh()
    yield opened
    opened.close()


def classified(index: Index, **levels: DetailLevel) -> list[ScopedSymbol]:
    """The symbols of all files with levels by their last name; what is not named is excluded."""
    found = without_model.rank(index, "ring_push and Box.put", Config().retrieval).symbols
    return [msgspec.structs.replace(s, detail_level=levels.get(s.name.split(".")[-1], "excluded")) for s in found]


def show(index: Index, **levels: DetailLevel) -> str:
    return render(index, blocks_of(index, classified(index, **levels)))


def test_a_c_function_comes_with_its_contract_includes_and_types(index: Index) -> None:
    text = show(index, ring_push="primary", ring="excluded")
    assert '#include "ring.h"' in text and "#include <string.h>" in text
    assert "/* Adds a value. Returns 0 when full. */\nint ring_push(ring *r, int value)\n{" in text
    assert "static int full" not in text


def test_a_type_a_shown_function_needs_comes_along_from_an_included_file(index: Index) -> None:
    text = show(index, ring_push="primary", full="type_context", ring="type_context")
    assert "size_t count;" in text  # a short type is shown whole
    assert "size_t count;" in show(index, ring_push="primary")  # and comes along when it was not chosen
    assert "static int full(const ring *r)" in text and "r->count > 3" not in text


def test_a_signature_carries_the_first_line_of_its_doc(index: Index) -> None:
    text = show(index, put="type_context", Box="type_context")
    assert "def put(self, value: Any) -> bool\n    Puts a value in." in text and "os.path.exists" not in text
    assert "import os" not in text  # no source shown, so nothing that needs it


def test_nothing_is_shown_twice(index: Index) -> None:
    text = show(index, put="primary", Box="primary", LIMIT="type_context")
    assert text.count("def put") == 1 and "import os" in text and "LIMIT = 4" in text


def test_named_texts_without_symbols_are_shown(index: Index) -> None:
    assert NOTES.strip() in render(index, blocks_of(index, [], ["NOTES.md"]))


def test_a_symbol_that_is_gone_is_left_out(index: Index) -> None:
    symbols = classified(index, put="primary", ring_push="primary")
    (index.root / "ring.c").unlink()
    index.refresh()
    text = render(index, blocks_of(index, symbols))
    assert "def put" in text and "ring.c" not in text


LEVELS = st.sampled_from(["primary", "supporting", "type_context"])


@given(budget=st.integers(64, 400), mask=st.lists(LEVELS, min_size=8, max_size=8))
@settings(max_examples=30, deadline=None)
def test_a_context_fits_its_budget_and_is_never_empty(budget: int, mask: list[DetailLevel]) -> None:
    symbols = [msgspec.structs.replace(s, detail_level=mask[n % 8]) for n, s in enumerate(_HELD["symbols"])]
    index: Index = _HELD["index"]
    fitted = trim(index, blocks_of(index, symbols), budget)
    assert fitted.blocks and fitted.tokens == estimate_tokens(render(index, list(fitted.blocks)))
    assert fitted.tokens <= budget or len(fitted.blocks) == 1
    assert not set(fitted.dropped) & {block.key for block in fitted.blocks}


_HELD: dict[str, Any] = {}


@pytest.fixture(autouse=True)
def hold(index: Index) -> None:
    """The index for the property, which takes no function-scoped fixture."""
    _HELD.update(index=index, symbols=classified(index))
