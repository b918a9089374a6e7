# ruff: noqa: E501
from __future__ import annotations

from pathlib import Path

import pytest

from agent.index import Index
from agent.index.words import identifiers, query_words, split_identifier
from tests.index.helpers import commit, repository, run_git, write

FILES = {
    "src/prompt.py": '"""Ask the user."""\n\ndef ask_secret():\n    """Hide what is typed."""\n    return validate_input()\n\ndef other():\n    return 1\n',
    "src/format.py": '"""Lay out help."""\n\nclass HelpFormatter:\n    def write_usage(self):\n        return "usage"\n',
    "src/net.c": "/* Sockets. */\nint open_socket(void) { return close_on_exec(1); }\nint unrelated(void) { return 0; }\n",
    "tests/test_prompt.py": "def test_ask_secret_is_hidden():\n    assert 1\n",
    "docs/prompt.md": "How to ask a secret.\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Index:
    found = Index.open(repository(tmp_path / "r", FILES))
    found.refresh()
    return found


def test_words_find_files_and_tests_stand_apart(index: Index) -> None:
    found = [r.path for r in index.search_files("hide the secret that a user types", 5)]
    assert found[0] == "src/prompt.py" and not any(p.startswith(("tests/", "docs/")) for p in found)
    assert [r.path for r in index.search_files("hidden secret", 5, tests=True)] == ["tests/test_prompt.py"]


def test_identifiers_are_split_at_both_ends(index: Index) -> None:
    assert index.search_files("writing the usage", 5)[0].path == "src/format.py"
    assert index.search_files("open the socket, close on exec", 5)[0].path == "src/net.c"
    assert split_identifier("parseHTTPHeader2_now") == ("parse", "http", "header", "2", "now")


def test_a_named_symbol_wins(index: Index) -> None:
    top = index.search_files("HelpFormatter.write_usage asks a user a hidden secret", 5)[0]
    assert top.path == "src/format.py" and any(r.startswith("mentioned") for r in top.reasons)
    assert index.search_symbols("please fix `unrelated`", limit=1)[0].symbol.key == "src/net.c:unrelated"
    assert identifiers("see a.b, call(x) and `quoted` or snake_case") == ["a.b", "call", "quoted", "snake_case"]


def test_symbols_rank_by_name_doc_and_body(index: Index) -> None:
    found = [r.symbol.qualified for r in index.search_symbols("hide the typed secret, validate input", limit=3)]
    assert found[0] == "ask_secret"
    only = index.search_symbols("usage of secret", paths=["src/format.py"], limit=9)
    assert {r.symbol.path for r in only} == {"src/format.py"}


HOSTILE = [
    "",
    "   ",
    "the of and",
    'quote " AND (NEAR OR NOT *',
    "a" * 50_000,
    "\0\x1b[31m",
    "col:umn -x ^y {z}",
    "日本語 çà",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_any_text_is_a_query(index: Index, number: int) -> None:
    text = HOSTILE[number]
    index.search_files(text, 5)
    index.search_symbols(text, limit=5)
    assert isinstance(query_words(text), list)


def test_messages_of_earlier_commits_lead_to_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n", "b.py": "y = 1\n", "c.py": "z = 1\n"})
    commit(root, {"b.py": "y = 2\n"}, "Zebra stripes no longer flicker")
    index = Index.open(root)
    index.refresh()
    [found] = index.search_files("zebras flicker again", 5)
    assert found.path == "b.py" and found.reasons == ("history #1",)
    commit(root, {"c.py": "z = 2\n"}, "Walrus support")
    index.refresh()
    assert [r.path for r in index.search_files("walrus", 5)] == ["c.py"]


def test_files_that_change_together(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n", "b.py": "y = 1\n", "c.py": "z = 1\n"})
    for i in range(3):
        commit(root, {"a.py": f"x = {i + 5}\n", "b.py": f"y = {i + 5}\n"}, f"both {i}")
    commit(root, {f"wide{i}.py": "w = 1\n" for i in range(60)} | {"a.py": "x = 0\n", "c.py": "z = 0\n"}, "wide")
    index = Index.open(root)
    index.refresh()
    assert index.cochanged("a.py") == [("b.py", 4), ("c.py", 1)]
    assert index.cochanged("nothing.py") == []


def test_a_shallow_clone_has_what_history_it_has(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    commit(root, {"a.py": "x = 2\n"}, "second")
    run_git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    index = Index.open(tmp_path / "shallow")
    assert index.refresh().files == 1
    write(tmp_path / "shallow", {"b.py": "y = 1\n"})
    assert index.refresh().files == 2
