"""What can be read off a task without a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.index import Index
from agent.retrieval.task import analyse, match_path
from agent.task.intent import read_intent
from tests.retrieval.repos import write

FILES = {
    "src/net/ring.c": '#include "ring.h"\nint ring_push(struct ring *r, int v)\n{\n    return v;\n}\n',
    "src/net/ring.h": "struct ring { int n; };\nint ring_push(struct ring *r, int v);\n",
    "src/app/core.py": "class Engine:\n    def run(self):\n        return 1\n\n\ndef main():\n    return Engine().run()\n",
    "src/app/util.py": "context_window = 4\n\n\ndef prompt():\n    return context_window\n",
    "tests/test_core.py": "def test_run():\n    pass\n",
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    write(tmp_path, FILES)
    opened = Index.open(tmp_path)
    opened.refresh()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Fix the off-by-one error in the token budget", "bug"),
        ("The server can crash after a pane is destroyed", "bug"),
        ("Please support zstandard-compressed responses", "feature"),
        ("Add a configurable nesting limit", "feature"),
        ("Implement the functions declared in ring_buffer.h", "implement"),
        ("Fill in the stubs in log.c", "implement"),
        ("Add tests for the parser", "test"),
        ("Document the public functions", "docs"),
        ("Update the README", "docs"),
        ("Rename Engine to Motor everywhere", "refactor"),
        ("", "feature"),
    ],
)
def test_kind_by_words(text: str, kind: str) -> None:
    assert read_intent(text).kind == kind


def test_a_path_is_matched_by_its_ending_in_whole_components(index: Index) -> None:
    paths = [entry.path for entry in index.files()]
    assert match_path("net/ring.c", paths) == ["src/net/ring.c"]
    assert match_path("./ring.c", paths) == ["src/net/ring.c"]
    assert match_path("/home/me/checkout/src/net/ring.c", paths) == ["src/net/ring.c"]
    assert match_path("g.c", paths) == [] and match_path("", paths) == []


def test_files_and_symbols_that_the_task_names(index: Index) -> None:
    facts = analyse("ring_push in ring.c loses values; Engine.run is fine. See https://example.org/core.py", index)
    assert facts.mentioned_files == ("src/net/ring.c",)
    assert "src/net/ring.c:ring_push" in facts.mentioned_symbols
    assert "src/app/core.py:Engine.run" in facts.mentioned_symbols
    assert "src/net/ring.h:ring_push" not in facts.mentioned_symbols  # the definition, not its prototype


def test_a_plain_word_is_no_mention_even_if_a_symbol_has_that_name(index: Index) -> None:
    assert analyse("If a prompt hides its main input, run it", index).mentioned_symbols == ()
    assert analyse("call `prompt` twice", index).mentioned_symbols == ("src/app/util.py:prompt",)


def test_error_traces_name_file_and_line(index: Index) -> None:
    text = (
        'Traceback (most recent call last):\n  File "/x/src/app/core.py", line 3, in run\nValueError: no\n'
        "src/net/ring.c:4:12: error: expected ';'"
    )
    assert analyse(text, index).traces == (("src/app/core.py", 3), ("src/net/ring.c", 4))


def test_neighbouring_words_that_the_code_joins_are_one_keyword(index: Index) -> None:
    facts = analyse("The last file is dropped from the context window", index)
    assert facts.keywords[0] == "context_window" and "dropped" in facts.keywords and "the" not in facts.keywords


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "[[[", pytest.param("a" * 5000, id="long"), "日本語", "%s/%d (.*)", "/", "...", "C:\\x.c"]
)
def test_any_text_is_a_task(index: Index, text: str) -> None:
    assert analyse(text, index).text == text
