"""What drives a terminal, in names, settings, models' names and servers' answers: no command prints it, no diff hides it."""

from __future__ import annotations

import ast
import json
import os
import tomllib
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.config.schema import user_config_path
from agent.events import DiffReady, Envelope
from agent.terminal_text import clean, escaped, revealed
from agent.workspace.trust import trust
from screens.panes.diff import diff_lines
from tests.fakes.script import failing
from tests.fakes.server import ScriptedServer
from tests.workspace.support import make_repo
from tui.cli import _expected, cli
from tui.report import json_printer, plain_printer

TUI = Path(__file__).parents[2] / "tui"
STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eb\u2066\x00\x7f"
NAME = f"e{STEERING.replace(chr(0), '')}vil"


def drives(text: str) -> set[str]:
    """Characters of ``text`` that a terminal would obey, or that turn the direction of writing."""
    turning = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return {char for char in text if (unicodedata.category(char) == "Cc" and char not in "\t\n") or char in turning}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repository whose names, and a person's own file whose model, hold what drives a terminal."""
    repo = make_repo(tmp_path / "repo", {f"{NAME}.c": "int evil_one(void) { return 1; }\n", "a.c": "int evil_two;\n"})
    (repo / ".clean_room").mkdir()
    (repo / ".clean_room" / "config.toml").write_text("[testing]\ntest_command = 'make \\u001b'\n")
    trust(repo)
    return repo


def cra(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def words_of(done: Result) -> str:
    fault = done.exception and _expected(done.exception)
    return done.output + (clean(fault[0]) if fault else "")


def test_no_command_prints_it(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    user_config_path().parent.mkdir(parents=True)
    with ScriptedServer(failing(400, f"bad {STEERING} field")).run_in_thread() as server:
        model = json.dumps(NAME)
        user_config_path().write_text(
            f'[models]\nprovider = "openai"\nbase_url = "{server.base_url}"\ncoding = {model}\nreasoning = {model}\n'
        )
        said = {
            words: cra(*words.split(" "))
            for words in (
                "index",
                "index --enrich",
                "retrieve evil --no-model",
                "retrieve evil --no-model --json",
                "retrieve evil",
                "trust --show",
                "config show",
                "models check",
                "run evil",
                "run evil --json",
                "labels show",
                "--info",
            )
        }
    for words, done in said.items():
        assert not drives(words_of(done)), words
        assert done.exception is None or isinstance(done.exception, SystemExit) or _expected(done.exception), words
    assert "\\x1b]0;owned" in said["retrieve evil --no-model"].output
    assert any(NAME in path for path in json.loads(said["retrieve evil --no-model --json"].output)["files"])
    assert tomllib.loads(said["config show"].output)["models"]["coding"] == NAME
    assert "bad" in said["retrieve evil"].output + words_of(said["retrieve evil"])


@pytest.mark.parametrize(
    "text", ['[models]\n"a\\u001b[2J\\u202eb" = 1\n', '["\\u001b[2J"]\na = 1\n', '[models]\n"\x1b" = 1\n']
)
def test_keys_of_a_configuration(hostile: Path, text: str) -> None:
    (hostile / ".clean_room" / "config.toml").write_text(text)
    trust(hostile)
    done = cra("config", "show", "--repo", hostile)
    assert done.exception is not None and _expected(done.exception)
    assert not drives(words_of(done))


def test_commands_print_through_one_place() -> None:
    """``say.py`` cleans what others wrote; ``cli.py`` and ``report.py`` do it themselves: the tests here look at them."""
    for path in (path for path in TUI.rglob("*.py") if path.name not in ("say.py", "cli.py", "report.py")):
        called = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        assert not {"echo", "secho", "print", "echo_via_pager"} & {ast.unparse(one).split(".")[-1] for one in called}, path


DIFF = """diff --git a/a.c b/a.c
--- a/a.c
+++ b/a.c
@@ -1 +1,4 @@
-int a;
+int b; /* {open} */
+system("rm -rf ~");
+int \u202ec;\r+not a line of its own\u200b
 int d;
"""


@pytest.mark.parametrize("opening", ["\x1b]", "\x1b]0;", "\x1bP", "\x1b_", "\x1b[", "\x9d", "\x1b[8m", "\x1b[1A\x1b[2K"])
def test_a_diff_hides_nothing(capsys: pytest.CaptureFixture[str], opening: str) -> None:
    diff = DIFF.replace("{open}", opening)
    shown = "\n".join(row.plain for row in diff_lines(diff))
    plain_printer()(Envelope("r", 1, 0.5, DiffReady(diff, ("a.c",), 3, 1, "cra/r")))
    for text in (shown, capsys.readouterr().out):
        assert 'system("rm -rf ~");' in text and "\\u202ec;\\r+not a line of its own\\u200b" in text
        assert ascii(opening)[1:-1] in text and not drives(text)
        assert sum(row.startswith(("+", "-")) and row[:3] not in ("+++", "---") for row in text.split("\n")) == 4


def test_events_on_standard_output_are_the_same_documents(capsys: pytest.CaptureFixture[str]) -> None:
    json_printer()(Envelope("r", 1, 0.5, DiffReady(STEERING, (NAME,), 0, 0, "cra/r")))
    said = capsys.readouterr().out
    assert not drives(said)
    assert json.loads(said)["diff"] == STEERING and json.loads(said)["files"] == [NAME]


@settings(max_examples=60, deadline=None)
@given(st.text() | st.text(alphabet=STEERING + "]P_[;m\\ab\n\t"))
def test_what_is_printed_drives_nothing_and_is_never_more_than_a_line_less(text: str) -> None:
    for shown in (clean(text), revealed(text)):
        assert not drives(shown) - {"\t"}
    kept = [row for row in text.split("\n") if "\x1b" not in row and "\r" not in row and "\x9b" not in row]
    assert {clean(row) for row in kept} <= set(clean(text).split("\n"))
    assert json.loads(escaped(json.dumps(text, ensure_ascii=False))) == text
    assert not drives(escaped(json.dumps(text, ensure_ascii=False)))


@pytest.mark.parametrize(
    "text", ["\x1b]0;title\x07x", "\x1b[2Jx", "\u202ex", "\u2066x\u2069", "\x9b31mx", "x\x00", "\x1b]x"]
)
def test_whole_sequences_go_with_what_they_say(text: str) -> None:
    assert clean(text) == "x"


def test_files_of_other_encodings_are_named(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n"})
    (repo / "plain.c").write_bytes(b"/* caf\xe9 */ int p;\n")
    (repo / "declared.py").write_bytes(b'# coding: cp1252\nx = "\x93"\n')
    Path(os.fsdecode(os.fsencode(repo) + b"/no\xff.c")).write_text("int n;\n")
    said = cra("index", repo).output
    assert "read as latin-1: plain.c\n" in said and "read as cp1252: declared.py\n" in said
    assert "skipped, file name is not UTF-8: 1\n" in said
