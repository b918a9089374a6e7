# ruff: noqa: E501
"""Real repositories, ordinary and nasty: what is indexed, what is skipped and why, and that increments equal a rebuild."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.index import Index, IndexUnavailable, workers
from agent.languages import ParsedFile, parse_file
from agent.workspace.processes import descendants
from tests.index.helpers import commit, found, repository, run_git, write
from tests.models.processes import gone

FILES = {
    "src/ring.c": '/* Rings. */\n#include "ring.h"\nint ring_push(int v) { return v; }\n',
    "src/ring.h": "int ring_push(int v);\n",
    "tool.py": '"""A tool."""\n\n\ndef main():\n    return 1\n',
    "README.md": "# Ring\n",
}


def paths(index: Index) -> list[str]:
    return [f.path for f in index.files()]


def test_files_symbols_and_text(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    index = Index.open(root)
    report = index.refresh()
    assert paths(index) == sorted(FILES)
    assert report.files == 4 and report.changed == 4 and report.languages["c"] == 2
    assert report.symbols == len(index.symbols()) == 3
    assert index.text("tool.py") == FILES["tool.py"]
    entry = index.file("src/ring.c")
    assert entry is not None and entry.purpose == "Rings." and entry.lines == 3 and entry.surface == ("ring_push",)
    assert (root / ".clean_room" / ".gitignore").read_text() == "*\n"
    assert run_git(root, "status", "--porcelain") == ""
    assert index.file("nowhere") is None


def test_a_second_refresh_reads_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    index = Index.open(root)
    index.refresh()
    again = Index.open(root).refresh()
    assert again.changed == 0 and again.removed == 0 and again.files == 4


def test_a_change_of_equal_size_in_the_same_instant_is_seen(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    index = Index.open(root)
    index.refresh()
    stamp = os.stat(root / "a.py")
    (root / "a.py").write_text("y = 1\n")
    os.utime(root / "a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert index.refresh().changed == 1
    assert [s.name for s in index.symbols("a.py")] == ["y"]


def test_everything_git_can_hold(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    outside = tmp_path / "outside.py"
    outside.write_text("secret = 1\n")
    (root / "link.py").symlink_to(outside)
    (root / "broken.py").symlink_to(root / "nothing")
    (root / "dirlink").symlink_to(tmp_path, target_is_directory=True)
    (root / "binary.c").write_bytes(b"int a;\0\1")
    (root / "latin.c").write_bytes(b"/* caf\xe9 */ int a;\n")
    (root / "big.c").write_bytes(b"int a;\n" * 200_000)
    (root / "empty.c").write_bytes(b"")
    (root / "odd\nname 'x\".py").write_text("odd = 1\n")
    (root / "ünï.py").write_text("uni = 1\n")
    with open(os.fsencode(root) + b"/bad\xff.py", "wb") as file:
        file.write(b"x = 1\n")
    os.mkfifo(root / "pipe.py")
    write(root, {".gitignore": "ignored/\n*.log\n", "ignored/a.py": "x = 1\n", "b.log": "x", "node_modules/x.py": "x = 1\n"})
    repository(root / "vendored", {"v.py": "v = 1\n"})
    locked = root / "locked.py"
    locked.write_text("x = 1\n")
    locked.chmod(0)
    index = Index.open(root)
    report = index.refresh()
    indexed = set(paths(index))
    assert {"empty.c", "latin.c", "odd\nname 'x\".py", "ünï.py", ".gitignore"} <= indexed
    assert not indexed & {
        "link.py",
        "broken.py",
        "binary.c",
        "big.c",
        "b.log",
        "ignored/a.py",
        "node_modules/x.py",
        "vendored/v.py",
    }
    assert not any(path.startswith((".clean_room", "dirlink", ".git/")) for path in indexed)
    assert report.skipped["symbolic link"] == 3
    assert report.skipped["binary"] == 1 and report.skipped["too large"] == 1
    assert report.skipped["file name is not UTF-8"] == 1 and report.skipped["submodule"] == 1
    if os.geteuid() != 0:
        assert report.skipped["unreadable"] == 1
    again = index.refresh()
    assert again.changed == 0 and again.skipped == report.skipped
    assert [s.name for s in index.symbols("odd\nname 'x\".py")] == ["odd"]


def test_files_of_submodules_are_indexed_where_they_are_checked_out(tmp_path: Path) -> None:
    deepest = repository(tmp_path / "deepest", {"d.py": "def deep():\n    return 1\n"})
    inner = repository(tmp_path / "inner", {"i.py": "i = 1\n"})
    allowed = ("-c", "protocol.file.allow=always")
    run_git(inner, *allowed, "submodule", "add", "-q", str(deepest), "more")
    run_git(inner, "commit", "-q", "-m", "more")
    root = repository(tmp_path / "r", FILES)
    run_git(root, *allowed, "submodule", "add", "-q", str(inner), "dep")
    index = Index.open(root)
    report = index.refresh()
    assert report.submodules == ("dep", "dep/more") and report.skipped["submodule"] == 1
    assert "dep/i.py" in paths(index) and "dep/more/d.py" not in paths(index)
    run_git(root / "dep", *allowed, "submodule", "update", "-q", "--init")
    report = index.refresh()
    assert "submodule" not in report.skipped and [s.path for s in index.find_symbols("deep")] == ["dep/more/d.py"]


@pytest.mark.parametrize(
    ("name", "raw", "encoding"),
    [
        ("latin.c", "/* caf\xe9 */ int coffee;\n".encode("latin-1"), "latin-1"),
        ("le.c", b"\xff\xfe" + "/* caf\xe9 */ int coffee;\n".encode("utf-16-le"), "utf-16"),
        ("be.py", b"\xfe\xff" + "# caf\xe9\ncoffee = 1\n".encode("utf-16-be"), "utf-16"),
        ("declared.py", "# -*- coding: cp1252 -*-\n# caf\xe9\ncoffee = '\u201c'\n".encode("cp1252"), "cp1252"),
        ("wrong.py", "# coding: utf-8\n# caf\xe9\ncoffee = 1\n".encode("latin-1"), "latin-1"),
        ("plain.py", "# café\ncoffee = 1\n".encode(), ""),
    ],
)
def test_every_encoding_is_read(tmp_path: Path, name: str, raw: bytes, encoding: str) -> None:
    root = repository(tmp_path / "r", {})
    (root / name).write_bytes(raw)
    index = Index.open(root)
    assert index.refresh().skipped == {}
    [symbol] = index.find_symbols("coffee")
    assert (
        index.source(name)[symbol.start : symbol.end].decode().startswith(("coffee", "/* café */ int coffee", "int coffee"))
    )
    assert "café" in index.text(name) and found(index, "café") == [name]
    assert index._store.rows("SELECT encoding FROM files") == [(encoding,)]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    (root / "half.c").write_bytes(b"\xff\xfe\x00")
    (root / "data.c").write_bytes(b"int a;\0")
    (root / "picture.png").write_bytes(b"\0\0")
    assert Index.open(root).refresh().unread == {"binary": ("data.c", "half.c")}


@pytest.mark.parametrize("kind", ["no git", "no commit", "no files", "detached", "subfolder"])
def test_unusual_places(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "r"
    if kind == "no git":
        write(
            root,
            {**FILES, ".gitignore": "skip/\n", "skip/a.py": "x = 1\n", "sub/.gitignore": "b.py\n", "sub/b.py": "x = 1\n"},
        )
    elif kind == "no commit":
        repository(root, {})
        write(root, FILES)
    elif kind == "no files":
        repository(root, {})
    else:
        repository(root, FILES)
        run_git(root, "checkout", "-q", "--detach")
    index = Index.open(root / "src" if kind == "subfolder" else root)
    report = index.refresh()
    expected = {"no git": 6, "no commit": 4, "no files": 0, "detached": 4, "subfolder": 2}[kind]
    assert report.files == expected
    assert found(index, "ring push") or kind == "no files"
    if kind == "subfolder":
        assert paths(index) == ["ring.c", "ring.h"]


def test_a_worktree_with_its_index_elsewhere(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    tree = tmp_path / "tree"
    run_git(root, "worktree", "add", "-q", "-b", "side", str(tree))
    index = Index.open(tree, db_path=root / ".clean_room" / "tree.sqlite")
    assert index.refresh().files == 4
    assert not (tree / ".clean_room").exists()


def test_a_forced_git_environment_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository(tmp_path / "other", {"o.py": "o = 1\n"})
    root = repository(tmp_path / "r", FILES)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    index = Index.open(root)
    index.refresh()
    assert paths(index) == sorted(FILES)


def test_damage_and_old_versions_are_rebuilt(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    index = Index.open(root)
    index.refresh()
    index.set_enrichment("tool.py", "Says one.", "tools", ["one"])
    index.close()
    database = root / ".clean_room" / "index.sqlite"
    with sqlite3.connect(database) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'version'")
    db.close()
    index = Index.open(root)
    assert index.refresh().files == 4
    tool = index.file("tool.py")
    assert tool is not None and tool.purpose == "Says one."
    index.close()
    database.write_bytes(b"this is not a database, whatever its name says" * 100)
    index = Index.open(root)
    assert index.refresh().files == 4


def test_damage_in_the_middle_is_rebuilt_at_the_next_refresh(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {**FILES, **{f"m{i}.py": f"def f{i}():\n    return {i}\n" * 20 for i in range(60)}})
    index = Index.open(root)
    index.refresh()
    index.close()
    database = root / ".clean_room" / "index.sqlite"
    data = bytearray(database.read_bytes())
    for at in range(8192, len(data) - 4096, 4096):
        data[at : at + 512] = os.urandom(512)
    database.write_bytes(bytes(data))
    index = Index.open(root)
    write(root, {"new.py": "n = 1\n"})
    assert index.refresh().files == 65
    assert index.find_symbols("f3")


def test_no_folder_and_no_room_are_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="There is no folder"):
        Index.open(tmp_path / "nowhere")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / ".clean_room").write_text("in the way")
    with pytest.raises(IndexUnavailable, match="is a file, so nothing can be kept there"):
        Index.open(tmp_path / "r")


def test_enrichment_lasts_as_long_as_the_content(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    index = Index.open(root)
    index.refresh()
    assert index.set_enrichment("tool.py", "Says one.", "tools", ["one"]) and not index.set_enrichment("no.py", "", "", [])
    entry = index.file("tool.py")
    assert entry is not None and (entry.purpose, entry.domain, entry.concepts) == ("Says one.", "tools", ("one",))
    assert index.enriched("tool.py") and not index.enriched("src/ring.c")
    write(root, {"tool.py": '"""Another tool."""\n'})
    index.refresh_files(["tool.py"])
    entry = index.file("tool.py")
    assert entry is not None and entry.purpose == "Another tool."


def test_one_edit_is_seen_by_refresh_files_alone(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    index = Index.open(root)
    index.refresh()
    write(
        root,
        {
            "src/ring.c": "int other(void) { return 2; }\n",
            "new.py": "import tool\n",
            ".gitignore": "ign.py\n",
            "ign.py": "x = 1\n",
        },
    )
    (root / "README.md").unlink()
    assert set(index.refresh_files(["src/ring.c", "new.py", "README.md", "ign.py", "never.py", "../up.py"])) == {
        "src/ring.c",
        "new.py",
        "README.md",
    }
    assert [s.name for s in index.symbols("src/ring.c")] == ["other"]
    assert index.imports_of("src/ring.c") == [] and index.used_by("tool.py") == ["new.py"]
    assert "ign.py" not in paths(index)


def test_threads_may_ask_while_another_refreshes(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {f"m{i}.py": f"def f{i}():\n    return f{i + 1}()\n" for i in range(40)})
    index = Index.open(root)
    index.refresh()
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            for i in range(15):
                index.rankings("f3 module")
                for symbol in index.find_symbols(f"f{i}"):
                    index.callers(symbol)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(10):
        write(root, {f"m{i}.py": f"def f{i}():\n    return {i}\n"})
        index.refresh()
    for thread in threads:
        thread.join()
    assert failures == []


def test_progress_counts_up_to_the_number_of_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    seen: list[tuple[int, int, str]] = []
    Index.open(root).refresh(lambda done, total, path: seen.append((done, total, path)))
    assert [s[0] for s in seen] == [1, 2, 3, 4] and {s[1] for s in seen} == {4}


NAMES = ["a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "src/x.c", "src/x.h", "include/y.h", "z.md", "Makefile"]
TEXTS = [
    "import b\nfrom pkg import c\n\ndef f():\n    return b.g()\n",
    "def g():\n    return 1\n",
    '#include "x.h"\n#include <y.h>\nint g(void) { return f(); }\n',
    "int g(void);\nint f(void);\n",
    "CFLAGS = -Iinclude\n",
    "",
]


VOLATILE = ("stamps", "left_over", "meta")
"""Tables that hold times and what was there before; all others must be the same however an index came to be."""


def ranked(index: Index, query: str) -> dict[str, dict[str, float]]:
    """All rankings of all files. Scores are sums whose last digits hang on the order in which the rows were written."""
    found = index.rankings(query, tests=None)
    return {kind: {path: round(score, 9) for path, score in scores.items()} for kind, scores in found.items()}


def everything(index: Index) -> object:
    """Every row of every table, and what a search answers."""
    names = [name for (name,) in index._store.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    plain = [name for name in names if name not in VOLATILE and not name.startswith(("words", "messages"))]
    tables = {name: sorted(index._store.rows(f"SELECT * FROM {name}")) for name in plain}
    return tables, ranked(index, "include g f b return pkg")


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), st.sampled_from(TEXTS)), st.sampled_from(["full", "one", "commit"])),
        min_size=2, max_size=7,
    )
)  # fmt: skip
def test_increments_equal_a_full_rebuild(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str | None, str]]
) -> None:
    base = tmp_path_factory.mktemp("inc")
    root = repository(base / "r", {"a.py": TEXTS[0], "src/x.c": TEXTS[2]})
    index = Index.open(root, db_path=base / "one.sqlite")
    index.refresh()
    for name, text, how in steps:
        if text is None:
            (root / name).unlink(missing_ok=True)
        else:
            write(root, {name: text})
        if how == "commit":
            run_git(root, "add", "-A")
            run_git(root, "commit", "-q", "--allow-empty", "-m", f"change {name}")
            index.refresh()
        elif how == "one":
            index.refresh_files([name])
        else:
            index.refresh()
    index.refresh()
    fresh = Index.open(root, db_path=base / "two.sqlite")
    fresh.refresh()
    assert everything(index) == everything(fresh)
    index.close()
    fresh.close()


def test_a_branch_switch_forgets_the_other_branch(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", FILES)
    run_git(root, "checkout", "-q", "-b", "side")
    commit(root, {"side.py": "s = 1\n"}, "side work on zebras")
    index = Index.open(root)
    index.refresh()
    run_git(root, "checkout", "-q", "main")
    index.refresh()
    assert "side.py" not in paths(index)
    assert found(index, "side work on zebras") == []


def test_an_edit_reads_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {f"p/m{i}.py": "def f():\n    return 1\n" for i in range(30)})
    index = Index.open(root)
    index.refresh()
    write(root, {"p/m5.py": "def g():\n    return 1\n"})
    read: list[str] = []
    monkeypatch.setattr("agent.index.extract.parse_file", lambda path, data: read.append(path) or parse_file(path, data))
    assert index.refresh_files(["p/m5.py"]) == ["p/m5.py"] and read == ["p/m5.py"]


def test_content_that_comes_back_is_found_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "def walrus():\n    return 1\n", "b.py": "def seal():\n    return 1\n"})
    index = Index.open(root)
    index.refresh()
    first = ranked(index, "walrus seal return")
    for text in ("def otter():\n    return 2\n", "def walrus():\n    return 1\n") * 3:
        write(root, {"a.py": text})
        index.refresh_files(["a.py"])
    assert ranked(index, "walrus seal return") == first and found(index, "otter") == []


def test_many_replaced_rows_lead_to_a_fresh_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.index.store._MOST_LEFT_OVER", 5)
    root = repository(tmp_path / "r", {"a.py": "x = 1\n"})
    index = Index.open(root)
    for number in range(9):
        write(root, {"a.py": f"def f{number}():\n    return {number}\n"})
        index.refresh()
    [(left,)] = index._store.rows("SELECT coalesce(sum(rows), 0) FROM left_over")
    assert left <= 8 and found(index, "f8") == ["a.py"]


def test_workers_and_one_process_write_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(
        tmp_path / "r",
        {f"m{i}.py": f"import m{i + 1}\n\n\ndef f{i}():\n    return m{i + 1}.f{i + 1}()\n" for i in range(90)},
    )
    seen = []
    for seed, count in (("1", 0), ("2", 2), ("3", 3)):
        code = (
            "import sys; from pathlib import Path; from agent.index import Index, workers\n"
            "made = workers.extracted\n"
            f"from agent.index import update; update.extracted = lambda *a: made(*a, workers={count})\n"
            "i = Index.open(Path(sys.argv[1]), db_path=Path(sys.argv[2])); i.refresh(); i.close()"
        )
        database = tmp_path / f"{seed}.sqlite"
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(root), str(database)], check=True, env=environment)
        index = Index.open(root, db_path=database)
        seen.append((everything(index), index._store.rows("SELECT * FROM words_data ORDER BY id")))
        index.close()
    assert seen[0] == seen[1] == seen[2]


def test_a_worker_that_dies_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {f"m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(90)})
    monkeypatch.setattr("agent.index.workers._COMMAND", "raise SystemExit(1)")
    monkeypatch.setattr("agent.index.workers.os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    report = Index.open(root).refresh()
    assert report.files == report.symbols == 90


def _jobs(root: Path) -> list[tuple[str, str]]:
    write(root, {f"m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(200)})
    return [(f"m{i}.py", "") for i in range(200)]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to see child processes")
def test_a_worker_that_dies_between_batches_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.index.workers._AHEAD", 1)  # most batches are asked for after it died
    jobs = _jobs(tmp_path)
    with workers.extracted(tmp_path, jobs, 1 << 20, 3) as results:
        read = [next(results)]
        first, *forked = descendants(os.getpid())
        for process in forked:
            os.kill(process, signal.SIGKILL)
        read += results
    assert [one.path for one in read if one] == [path for path, _ in jobs] and gone(first)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to see child processes")
@pytest.mark.parametrize("taken", [1, 200])
def test_no_worker_outlives_its_use(tmp_path: Path, taken: int) -> None:
    with workers.extracted(tmp_path, _jobs(tmp_path), 1 << 20, 3) as results:
        assert all(next(results) for _ in range(taken))
        running = descendants(os.getpid())
    assert running and all(map(gone, running))


def test_two_processes_may_open_and_refresh_at_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {f"m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(50)})
    code = f"from pathlib import Path; from agent.index import Index; print(Index.open(Path({str(root)!r})).refresh().files)"
    runs = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [run.communicate(timeout=60)[0].strip() for run in runs] == ["50", "50", "50"]
    shared, alone = Index.open(root), Index.open(root, db_path=tmp_path / "alone.sqlite")
    alone.refresh()
    assert everything(shared) == everything(alone)


def test_a_process_killed_in_the_middle_leaves_whole_files(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {f"m{i}.py": f"def f{i}():\n    return {i}\n" for i in range(400)})
    code = (
        "import os; from pathlib import Path; from agent.index import Index\n"
        f"Index.open(Path({str(root)!r})).refresh(lambda done, total, path: os._exit(9) if done == 300 else None)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    index = Index.open(root)
    there = paths(index)
    assert there and all(index.symbols(path) for path in there)
    report = index.refresh()
    assert report.files == report.symbols == 400 and report.changed == 400 - len(there)


def test_another_size_limit_is_applied_to_what_was_left_out(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n" * 100})
    os.utime(root / "a.py", (1, 1))
    assert Index.open(root, max_file_bytes=50).refresh().skipped == {"too large": 1}
    assert Index.open(root).refresh().files == 1
    assert Index.open(root, max_file_bytes=50).refresh().files == 0


def test_a_parser_that_stumbles_costs_one_files_symbols(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(path: str, data: bytes) -> ParsedFile:
        if path == "bad.py":
            raise RecursionError
        return parse_file(path, data)

    monkeypatch.setattr("agent.index.extract.parse_file", stumble)
    root = repository(tmp_path / "r", {"bad.py": "def walrus():\n    pass\n", "good.py": "def seal():\n    pass\n"})
    index = Index.open(root)
    assert index.refresh().files == 2
    assert [s.name for s in index.symbols()] == ["seal"]
    assert found(index, "walrus") == ["bad.py"]
