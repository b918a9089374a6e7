"""Every command as somebody at a shell meets it: help, refusals as sentences with exit codes, data on standard output."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from agent.config.schema import Config, load, merge, parse, repo_config_path, user_config_path
from agent.counts import counted
from agent.events import DiffReady, Envelope, ModelStatus, Notice
from agent.workspace.demo import create_demo, load_demo
from tests.fakes import ScriptedServer
from tests.flow.coder import SOLUTIONS, Coder, small_ring
from tests.index.helpers import commit, repository
from tui.cli import COMMANDS as COMMAND_TABLE
from tui.cli import cli, main
from tui.report import plain_printer

ROOT = Path(__file__).parents[3]
COMMANDS = [
    [], ["demo"], ["run"], ["index"], ["models"], ["models", "list"], ["models", "pull"], ["models", "check"], ["config"],
    ["config", "init"], ["config", "show"], ["config", "path"], ["classify"], ["signals"], ["retrieve"], ["labels"],
    ["labels", "stats"], ["labels", "export"], ["evaluate"], ["serve"],
]  # fmt: skip


def cra(*words: Any, **rest: Any) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], **rest)


def shell(monkeypatch: pytest.MonkeyPatch, *words: Any) -> int:
    """The exit code of the installed command, faults turned into sentences as a person sees them."""
    monkeypatch.setattr(sys, "argv", ["cra", *(str(word) for word in words)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def to_server(repo: Path, server: ScriptedServer) -> None:
    path = repo_config_path(repo)
    path.parent.mkdir(exist_ok=True)
    (path.parent / ".gitignore").write_text("*\n")
    path.write_text(f'[models]\nprovider = "openai"\nbase_url = "{server.base_url}"\n')


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return create_demo("ring_buffer", tmp_path / "ring")


# -- finding one's way


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words) or "cra")
def test_every_command_explains_itself(words: list[str]) -> None:
    for option in ("--help", "-h"):
        result = cra(*words, option)
        assert result.exit_code == 0 and "Usage:" in result.stdout
        assert len(result.stdout.splitlines()) > 4


def test_the_list_of_commands_is_whole() -> None:
    listed = cra("--help").stdout
    assert all(f"  {words[0]}" in listed for words in COMMANDS if words)


@pytest.mark.parametrize(("typed", "near"), [("indx", "index"), ("clasify", "classify"), ("modles", "models")])
def test_a_mistyped_command_names_the_nearest(
    typed: str, near: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell(monkeypatch, typed) == 2
    assert f"Did you mean '{near}'?" in capsys.readouterr().err


def test_help_is_quick_because_it_loads_neither_screen_nor_network() -> None:
    code = (
        "import sys\nfrom tui.cli import main\n"
        "sys.argv = ['cra', '--help']\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "slow = ('textual', 'rich', 'httpx', 'sqlite3', 'sqlite_utils', 'tree_sitter', 'msgspec', 'asyncio')\n"
        "print('loaded', [m for m in slow if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_the_list_says_of_each_command_what_the_command_says() -> None:
    context = click.Context(cli)
    for name, (_, said) in COMMAND_TABLE.items():
        command = cli.get_command(context, name)
        assert command is not None and said == command.get_short_help_str(limit=1000)


def test_info_holds_what_a_bug_report_needs() -> None:
    said = cra("--info").stdout
    assert all(word in said for word in ("cra ", "Python", "textual 8", "git", "sqlite", "models", str(user_config_path())))


def test_without_a_terminal_it_says_what_to_use_instead() -> None:
    result = cra()
    assert result.exit_code == 2 and "cra run TASK --repo DIR" in result.stderr
    for words in (["--json"], ["--apply"], []):
        result = cra("demo", "hash_table", *words)
        assert result.exit_code == 2 and f"{' '.join(['cra demo hash_table --headless', *words])}\n" in result.stderr
    assert "no copies" in cra("demo", "--clean").stdout, "nothing was made for what cannot be opened"


# -- configuration


def test_config_init_show_path(tmp_path: Path) -> None:
    assert cra("config", "init").stdout.strip() == str(user_config_path())
    assert merge(parse(user_config_path().read_text(), "x")) == Config()
    again = cra("config", "init")
    assert again.exit_code == 2 and "--force" in again.stderr
    assert cra("config", "init", "--force").exit_code == 0
    assert cra("config", "init", "--repo", tmp_path).exit_code == 0
    assert (tmp_path / ".clean_room" / ".gitignore").read_text() == "*\n"
    repo_config_path(tmp_path).write_text("[models]\nseed = 5\n")
    assert merge(parse(cra("config", "show", "--repo", tmp_path).stdout, "shown")).models.seed == 5
    assert cra("config", "path", "--repo", tmp_path).stdout.splitlines() == [
        str(user_config_path()), str(repo_config_path(tmp_path))
    ]  # fmt: skip
    assert cra("config", "init", "--repo", tmp_path / "nowhere").exit_code == 2


def test_a_wrong_configuration_is_a_sentence_with_file_key_and_neighbour(
    ring: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo_config_path(ring).parent.mkdir(exist_ok=True)
    repo_config_path(ring).write_text("[models]\nconcurency = 3\n")
    for words in (("config", "show"), ("models", "check"), ("run", "Do it."), ("retrieve", "x", "--no-model")):
        assert shell(monkeypatch, *words, "--repo", ring) == 2
        said = capsys.readouterr().err
        assert str(repo_config_path(ring)) in said and "'concurrency'" in said and "Traceback" not in said


# -- rows


def test_classify_answers_every_row_and_goes_on_after_a_bad_one(tmp_path: Path) -> None:
    rows = [
        {"id": "include", "files": {"a.c": "int main(void) { printf(\"x\"); }\n"}, "commands": ["gcc -c a.c"],
         "stderr": "a.c:1:18: error: implicit declaration of function 'printf' [-Werror=implicit-function-declaration]\n"},
        {"id": "missing", "files": {"a.c": "int f(void);\nint main(void) { return f(); }\n"}, "step": "link",
         "commands": ["gcc a.o"], "stderr": "/usr/bin/ld: a.o: in function `main':\na.c:2: undefined reference to `f'\n"},
        {"id": "logic", "files": {"a.c": "int main(void) { return x }\n"}, "commands": ["gcc -c a.c"],
         "stderr": "a.c:1:26: error: expected ';' before '}' token\n"},
    ]  # fmt: skip
    lines = [json.dumps(row) for row in rows]
    lines.insert(1, "{not json")
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(lines) + "\n")
    result = cra("classify", file, "--no-model")
    assert result.exit_code == 0, result.output
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == 4 and "error" in found[1] and found[1]["line"] == 2
    by_id = {row["id"]: row["category"] for row in found if row.get("category")}
    assert by_id == {"include": "missing_include", "missing": "missing_definition", "logic": "logic_error"}
    piped = cra("classify", "-", "--no-model", input=lines[0] + "\n")
    assert json.loads(piped.stdout)["headers"] == ["stdio.h"]
    assert cra("classify", tmp_path / "nowhere.jsonl").exit_code == 2


def test_signals(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": 1, "text": "FAILED t.py::test_add - -1 == 5\n1 failed\n", "command": "pytest", "exit_code": 1}),
        "[]",
        json.dumps({"id": 3, "text": "1 passed\n", "command": "pytest", "exit_code": 0}),
    ]  # fmt: skip
    result = cra("signals", "-", input="\n".join(lines))
    first, bad, last = (json.loads(line) for line in result.stdout.splitlines())
    assert first["category"] == "test_failure" and last["category"] == "none"
    assert bad["line"] == 2 and "ine 2" in bad["error"]


# -- repositories


def test_index_and_retrieve_without_a_model(ring: Path) -> None:
    result = cra("index", ring)
    assert result.exit_code == 0 and "symbols" in result.stdout
    found = json.loads(cra("retrieve", load_demo("ring_buffer").task, "--repo", ring, "--json", "--no-model").stdout)
    assert "ring_buffer.c" in found["files"][:3] and found["calls"] == 0
    assert "ring_buffer.c:ring_push" in found["symbols"]
    assert "files:" in cra("retrieve", "ring", "--repo", ring, "--no-model").stdout


def test_what_is_retrieved_says_why_and_nothing_is_a_sentence(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"notes.md": "Walrus.\n"})
    assert cra("retrieve", "feed the walrus", "--repo", root, "--no-model").stdout == (
        "This repository holds no C or Python file that can be read.\n"
    )
    for count in range(3):  # nothing but the history speaks for far.py
        files = {"sea.py": f"def feed_walrus():\n    return {count}\n", "far.py": f"distance = {count}\n"}
        commit(root, files, f"Step {count}")
    assert cra("retrieve", "xyzzy", "--repo", root, "--no-model").stdout == (
        "No C or Python file of this repository matches that task. Name a file or a function in it.\n"
    )
    words = ("retrieve", "Feed the walrus", "--repo", root, "--no-model")
    found = json.loads(cra(*words, "--json").stdout)
    assert found["files"] == ["sea.py", "far.py"] and found["symbols"][0] == "sea.py:feed_walrus"
    for name in ("files", "symbols"):
        for entry in found[name]:
            reasons = found["why"][name][entry]["reasons"]
            assert math.isclose(sum(one["share"] for one in reasons), 1, abs_tol=0.01)
            assert all(one["means"] for one in reasons)
    assert "far.py  (co-changed with sea.py 3 times; together 100%)" in cra(*words).stdout


def test_demo_list_and_refusals(tmp_path: Path) -> None:
    listed = cra("demo", "--list").stdout
    assert all(name in listed for name in ("ring_buffer", "token_budget", "hash_table"))
    assert cra("demo", "nothing", "--headless", "--into", tmp_path / "d").exit_code == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    taken = cra("demo", "ring_buffer", "--headless", "--into", tmp_path / "full")
    assert taken.exit_code != 0 and contents(tmp_path / "full") == {"mine.txt": b"mine"}


def test_a_setting_of_the_command_line_reaches_the_run_and_stays_with_the_demo(tmp_path: Path) -> None:
    place = tmp_path / "ring"
    with ScriptedServer(Coder((SOLUTIONS / "ring_buffer.c").read_bytes())).run_in_thread() as server:
        address = ["--set", "models.provider=openai", "--set", f"models.base_url={server.base_url}"]
        words = ["--set", "models.coding=named-here", "--task", "Implement ring_max"]
        done = cra("demo", "ring_buffer", "--headless", "--into", place, *address, *words)
        assert done.exit_code == 0, done.output
        assert "named-here" in {call.model for call in server.calls}
        written = [re.findall(r"Write the function (\w+)", call.prompt) for call in server.calls]
        assert {names[-1] for names in written if names} == {"ring_max"}
        assert load(place).models.coding == "named-here"
        again = cra("run", "Explain nothing", "--repo", place, "--set", "models.max_tokens=x")
        assert again.exit_code != 0 and "models.max_tokens: expected a whole number" in str(again.exception)
    assert cra("demo", "ring_buffer", "--headless", "--into", tmp_path / "no", "--set", "a").exit_code != 0
    assert not (tmp_path / "no").exists()


def test_models_list_and_check(tmp_path: Path) -> None:
    assert "qwen2.5-coder-1.5b" in cra("models", "list").stdout
    missing = cra("models", "check", "--repo", tmp_path)
    assert missing.exit_code == 3 and "cra models pull" in missing.stdout
    with ScriptedServer("yes").run_in_thread() as server:
        to_server(tmp_path, server)
        ready = cra("models", "check", "--repo", tmp_path)
    assert ready.exit_code == 0 and ready.stdout.startswith("ok")
    assert cra("models", "check", "--repo", tmp_path).exit_code == 3  # the server is gone


@pytest.mark.parametrize(
    ("task", "make", "code", "words"),
    [
        ("  ", "ring", 2, "The task is empty"),
        ("Do it.", "nowhere", 2, "There is no folder"),
        ("Do it.", "empty", 2, "no C or Python source"),
        ("Do it.", "ring", 3, "cra models pull"),
        ("Do it.", "unreachable", 3, "127.0.0.1"),
    ],
)
def test_run_refuses_before_anything_is_changed(
    task: str, make: str, code: int, words: str, tmp_path: Path, ring: Path
) -> None:
    repo = {"nowhere": tmp_path / "no", "empty": tmp_path / "empty"}.get(make, ring)
    (tmp_path / "empty").mkdir()
    if make == "unreachable":
        with ScriptedServer("yes").run_in_thread() as server:
            to_server(ring, server)
    before = contents(tmp_path)
    for extra in ((), ("--json",)):
        result = cra("run", task, "--repo", repo, *extra)
        assert result.exit_code == code and words in result.stderr
        assert result.stdout == ""
    after = {name: data for name, data in contents(tmp_path).items() if "/.git/index" not in name}
    assert after == {name: data for name, data in before.items() if "/.git/index" not in name}


def test_run_json_ends_with_what_came_of_it(tmp_path: Path) -> None:
    ring = small_ring(tmp_path / "ring")
    before = {name: data for name, data in contents(ring).items() if not name.startswith((".git/", ".clean_room/"))}
    with ScriptedServer(Coder((SOLUTIONS / "ring_buffer.c").read_bytes())).run_in_thread() as server:
        to_server(ring, server)
        result = cra("run", load_demo("ring_buffer").task, "--repo", ring, "--json")
    assert result.exit_code == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert events[0]["type"] == "RunStarted"
    end = events[-1]
    assert end["type"] == "RunFinished" and end["status"] == "complete"
    assert end["calls"] > 0 and end["seconds"] > 0 and end["functions"] == 3
    assert end["tests_before"]["failed"] > 0 and end["tests_after"]["ok"] and end["tests_after"]["passed"] > 0
    assert {name: data for name, data in contents(ring).items() if not name.startswith((".git/", ".clean_room/"))} == before
    branches = subprocess.run(["git", "branch", "--list", end["branch"]], cwd=ring, capture_output=True, text=True).stdout
    assert end["branch"] in branches


# -- the browser


def test_when_nobody_reads_on_the_run_stops_without_a_word(ring: Path) -> None:
    with ScriptedServer(Coder((SOLUTIONS / "ring_buffer.c").read_bytes())).run_in_thread() as server:
        to_server(ring, server)
        line = [sys.executable, "-m", "tui", "run", load_demo("ring_buffer").task, "--repo", str(ring), "--json"]
        child = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stderr is not None
        assert json.loads(child.stdout.readline())["type"] == "RunStarted"
        child.stdout.close()
        said = child.stderr.read()
        child.stderr.close()
    assert (child.wait(60), said) == (130, "")


def test_narration_does_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    plain_printer()(Envelope("r", 1, 0.5, Notice("error", "a\x1b[2J[/b]\x00\tb \udcff\x9b31m")))
    assert capsys.readouterr().out == "    0.5s  error: a[/b]    b ?\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.4", "example.org", "::"])
def test_serve_refuses_what_others_can_reach(host: str) -> None:
    refused = cra("serve", "--host", host)
    assert refused.exit_code == 2 and "--anyone" in refused.stderr and "run commands as you" in refused.stderr


def test_help_cuts_no_description() -> None:
    assert "..." not in cra("--help").stdout.partition("Commands:")[2]


def test_counts_are_said_in_the_right_number_and_an_empty_diff_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    said = [counted(number, name) for number, name in ((1, "objects"), (2, "objects"), (1, "libraries"), (1, "passed"))]
    assert said == ["1 object", "2 objects", "1 library", "1 passed"]
    plain_printer()(Envelope("r1", 1, 12.0, ModelStatus("waiting", text="waiting for the server, 12 s")))
    assert capsys.readouterr().out == "   12.0s  waiting for the server, 12 s\n"
    show = plain_printer()
    for second in (12.0, 14.0, 17.0, 22.5, 25.0):
        show(Envelope("r1", 1, second, ModelStatus("waiting", text=f"waiting for the server, {second:.0f} s")))
    said = capsys.readouterr().out.splitlines()
    assert [line.rpartition(", ")[2] for line in said] == ["12 s", "22 s"], "a wait that goes on, every ten seconds"
    plain_printer()(Envelope("r1", 1, 0.0, DiffReady("", (), 0, 0, "cra/r1")))
    assert capsys.readouterr().out == "    0.0s  diff: nothing was changed\n"


@pytest.mark.parametrize(
    "words",
    [
        ("run", "Do it.", "--repo"), ("index",), ("retrieve", "it", "--repo"), ("trust",), ("labels", "stats", "--repo"),
        ("labels", "gather", "--repo"), ("calibrate", "--repo"), ("evaluate", "--repo"), ("config", "show", "--repo"),
        ("config", "path", "--repo"), ("config", "init", "--repo"), ("models", "check", "--repo"), ("serve", "--repo"),
    ],
)  # fmt: skip
def test_a_missing_folder_is_said_in_one_sentence_by_every_command(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for name, said in (("nowhere", "There is no folder {}."), ("file", "{} is a file, not a folder.")):
        refused = cra(*words, tmp_path / name)
        assert refused.exit_code == 2
        assert refused.stderr == f"cra: {said.format(tmp_path / name)} Give the path of the repository to work on.\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_index_counts_what_it_skips_and_names_each_file_once(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.c").write_text("int a;\n")
    (tmp_path / "big.c").write_text("x" * 2_000_000)
    for name in ("one.c", "two.c"):
        (tmp_path / name).symlink_to("a.c")
    said = cra("index", tmp_path).stdout
    assert said.startswith("1 file (1 c), 1 symbol; ")
    assert "skipped, symbolic link: 2\n" in said and "skipped, too large: 1 (big.c)\n" in said
    assert said.count("big.c") == 1


def test_a_run_without_a_model_names_none_and_says_once_why_it_failed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    done = cra("run", "Add a function g to a.py.", "--no-model", "--trust", "--repo", tmp_path)
    assert done.exit_code == 1
    assert ", no model\n" in done.stdout and "qwen" not in done.output.lower()
    assert done.output.count("Without a model") == 1
