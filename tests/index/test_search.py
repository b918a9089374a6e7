# ruff: noqa: E501
from __future__ import annotations

from pathlib import Path

import pytest

from agent.index import Index
from agent.index.words import identifiers, query_words, split_identifier
from tests.index.helpers import commit, found, repository, run_git, write

FILES = {
    "src/prompt.py": '"""Ask the user."""\n\ndef ask_secret():\n    """Hide what is typed."""\n    return validate_input()\n\ndef other():\n    return 1\n',
    "src/format.py": '"""Lay out help."""\n\nclass HelpFormatter:\n    def write_usage(self):\n        return "usage"\n',
    "src/net.c": "/* Sockets. */\nint open_socket(void) { return close_on_exec(1); }\nint unrelated(void) { return 0; }\n",
    "tests/test_prompt.py": "def test_ask_secret_is_hidden():\n    assert 1\n",
    "docs/prompt.md": "How to ask a secret.\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Index:
    opened = Index.open(repository(tmp_path / "r", FILES))
    opened.refresh()
    return opened


def test_words_find_files_and_tests_stand_apart(index: Index) -> None:
    files = found(index, "hide the secret that a user types")
    assert files[0] == "src/prompt.py" and not any(p.startswith(("tests/", "docs/")) for p in files)
    assert found(index, "hidden secret", tests=True) == ["tests/test_prompt.py"]
    assert set(found(index, "hidden secret", tests=None)) == {"src/prompt.py", "tests/test_prompt.py"}


def test_identifiers_are_split_at_both_ends(index: Index) -> None:
    assert found(index, "writing the usage")[0] == "src/format.py"
    assert found(index, "open the socket, close on exec")[0] == "src/net.c"
    assert split_identifier("parseHTTPHeader2_now") == ("parse", "http", "header", "2", "now")
    assert split_identifier("__MAX_Row__") == split_identifier("max_row") == ("max", "row")
    assert split_identifier("größe") == ("gr", "öß", "e") and split_identifier("_") == ()


def test_a_named_symbol_leads_to_its_file(index: Index) -> None:
    assert list(index.rankings("HelpFormatter.write_usage asks a user a hidden secret")["mentioned"]) == ["src/format.py"]
    assert list(index.rankings("please fix `unrelated`")["mentioned"]) == ["src/net.c"]
    assert identifiers("see a.b, call(x) and `quoted` or snake_case") == ["a.b", "call", "quoted", "snake_case"]


@pytest.mark.parametrize("query", ["ask for the secret", "hide what is typed", "validate the input"])
def test_a_symbol_is_found_by_name_doc_and_body(index: Index, query: str) -> None:
    assert next(iter(index.rankings(query)["symbols"])) == "src/prompt.py"


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
    assert isinstance(found(index, text), list)
    assert isinstance(query_words(text), list)


def test_messages_of_earlier_commits_lead_to_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n", "b.py": "y = 1\n", "c.py": "z = 1\n"})
    commit(root, {"b.py": "y = 2\n"}, "Zebra stripes no longer flicker")
    index = Index.open(root)
    index.refresh()
    assert {kind: list(files) for kind, files in index.rankings("zebras flicker again").items() if files} == {"history": ["b.py"]}
    commit(root, {"c.py": "z = 2\n"}, "Walrus support")
    index.refresh()
    assert found(index, "walrus") == ["c.py"]


@pytest.mark.parametrize(("most", "found"), [(2000, ["b.py"]), (1, []), (0, [])])
def test_the_setting_bounds_the_history_that_is_read(tmp_path: Path, most: int, found: list[str]) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n", "b.py": "y = 1\n"})
    commit(root, {"b.py": "y = 2\n"}, "Zebra stripes")
    commit(root, {"a.py": "x = 2\n"}, "Walrus")
    Index.open(root).refresh()
    index = Index.open(root, max_commits=most)
    index.refresh()
    assert list(index.rankings("zebra")["history"]) == found, "the same HEAD was read with another bound before"


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
