"""Which source goes with which header, in the layouts that projects have."""

from __future__ import annotations

import pytest

from agent.c.files import counterpart, is_header, is_source, new_source_for

FILES = (
    "include/lib/ring.h", "src/ring.c", "src/tests/ring.c", "lib/util.c", "lib/util.h", "other/util.c", "api.h", "impl.c",
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("include/lib/ring.h", "src/ring.c"),
        ("src/ring.c", "include/lib/ring.h"),
        ("lib/util.h", "lib/util.c"),
        ("other/util.c", "lib/util.h"),
        ("api.h", ""),
        ("Makefile", ""),
        ("ring.py", ""),
    ],
)
def test_the_stem_decides_then_the_nearest(path: str, expected: str) -> None:
    assert counterpart(path, FILES) == expected


def test_what_a_header_declares_finds_a_source_of_another_name() -> None:
    assert counterpart("api.h", FILES, {"impl.c": 3, "lib/util.c": 1}) == "impl.c"
    assert counterpart("lib/util.h", FILES, {"impl.c": 9}) == "lib/util.c"


def test_a_new_source_lies_beside_the_header_or_in_src() -> None:
    assert new_source_for("lib/a.h") == "lib/a.c"
    assert new_source_for("a.h") == "a.c"
    assert new_source_for("include/deep/a.h") == "src/a.c"
    assert new_source_for("kit/include/a.h") == "kit/src/a.c"


def test_headers_and_sources_by_name() -> None:
    assert is_header("include/a.h") and not is_header("src/a.c")
    assert is_source("src/a.c") and not is_source("a.cc") and not is_source("a.h")
