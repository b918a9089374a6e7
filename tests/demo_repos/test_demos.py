"""The demos are honest: their tests fail before, pass with a right solution, and catch wrong ones."""

import collections
import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.workspace.checks import compare, run_checks
from agent.workspace.demo import create_demo, list_demos, load_demo, read_demo
from agent.workspace.git import WorkspaceError

SOLUTIONS = Path(__file__).parent / "solutions"


@pytest.fixture(autouse=True)
def data_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def git(repo, *args):
    return subprocess.run(["git", *args], cwd=repo, check=True, capture_output=True, text=True).stdout


def replace(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, (old, text.count(old))
    path.write_text(text.replace(old, new))


def test_every_demo_is_described_and_listed():
    demos = {demo.name: demo for demo in list_demos()}
    assert set(demos) == {"ring_buffer", "token_budget", "hash_table", "weather_log"}
    assert demos["ring_buffer"].task == "Implement the functions declared in ring_buffer.h"
    assert demos["hash_table"].hidden == ("acceptance/",)
    assert all(demo.title and demo.task and demo.test_command and demo.path.is_dir() for demo in demos.values())


def test_an_unknown_demo_is_named_with_those_there_are():
    with pytest.raises(WorkspaceError, match=r"no demo 'nope'.*hash_table, ring_buffer, token_budget, weather_log"):
        load_demo("nope")
    with pytest.raises(WorkspaceError):
        load_demo("../demo_repos/ring_buffer")


def test_copies_are_clean_repositories_with_the_same_history_each_time(data_directory):
    first, second = create_demo("ring_buffer"), create_demo("ring_buffer")
    assert first == data_directory / "demos" / "ring_buffer-1"
    assert second.name == "ring_buffer-2"
    assert git(first, "log", "--format=%H %cI %s") == git(second, "log", "--format=%H %cI %s")
    assert len(git(first, "log", "--format=%H").split()) == 4
    assert git(first, "status", "--porcelain") == ""
    assert not (first / "history.toml").exists()
    assert read_demo(first).task == load_demo("ring_buffer").task


def test_a_destination_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.txt").write_text("mine")
    with pytest.raises(WorkspaceError, match="not empty"):
        create_demo("ring_buffer", tmp_path / "here")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["mine.txt"]
    assert create_demo("hash_table", tmp_path / "there") == (tmp_path / "there").resolve()


def test_history_of_token_budget_changes_pipeline_and_budget_together_four_times():
    log = git(create_demo("token_budget"), "log", "--format=%x00", "--name-only")
    pairs = collections.Counter(
        pair for commit in log.split("\0") for pair in itertools.combinations(sorted(commit.split()), 2)
    )
    assert pairs["budget.py", "pipeline.py"] == 4
    assert max(count for pair, count in pairs.items() if pair != ("budget.py", "pipeline.py")) == 1


async def test_ring_buffer_before_and_after(tmp_path):
    repo = create_demo("ring_buffer", tmp_path / "repo")
    before = await run_checks(repo, "make test", 60)
    assert (before.ok, before.passed, before.failed) == (False, 5, 13)
    shutil.copy(SOLUTIONS / "ring_buffer.c", repo)
    after = await run_checks(repo, "make test", 60)
    assert (after.ok, after.passed, after.failed) == (True, 18, 0)
    assert len(compare(before, after)[0]) == 13


WRONG_RING_BUFFERS = {
    "leaks": ("free(rb->data);", ";"),
    "frees twice": ("free(rb);\n    }\n}", "free(rb);\n        free(rb);\n    }\n}"),
    "crashes on NULL": ("if (rb != NULL) {", "{"),
    "takes capacity 0": ("if (capacity == 0) {", "if (0) {"),
    "pushes without wrap": ("rb->data[(rb->head + rb->count) % rb->capacity] = value", "rb->data[rb->count] = value"),
    "overwrites when full": ("if (rb->count == rb->capacity) {", "if (0) {"),
    "pops without wrap": ("rb->head = (rb->head + 1) % rb->capacity;", "rb->head++;"),
    "peeks one too far": ("if (index >= rb->count) {", "if (index > rb->count) {"),
    "clears by bytes": ("rb->capacity * sizeof *rb->data);\n    rb->head", "rb->capacity);\n    rb->head"),
    "copies too many": ("size_t n = max < rb->count ? max : rb->count;", "size_t n = rb->count;"),
    "maximum starts at 0": ("int largest = INT_MIN;", "int largest = 0;"),
    "never ends": ("    return largest;", "    while (rb->count) { }\n    return largest;"),
}


@pytest.mark.parametrize("fault", WRONG_RING_BUFFERS)
async def test_ring_buffer_catches(fault, tmp_path):
    repo = create_demo("ring_buffer", tmp_path / "repo")
    if fault == "never ends":  # the alarm of 5 s is for people; here one second is enough
        replace(repo / "tests" / "test_ring_buffer.c", "alarm(5)", "alarm(1)")
    shutil.copy(SOLUTIONS / "ring_buffer.c", repo)
    replace(repo / "ring_buffer.c", *WRONG_RING_BUFFERS[fault])
    result = await run_checks(repo, "make test", 60)
    assert not result.ok
    assert result.failed and result.passed and result.failed + result.passed == 18


async def test_token_budget_before_and_after(tmp_path):
    repo = create_demo("token_budget", tmp_path / "repo")
    command = load_demo("token_budget").test_command
    before = await run_checks(repo, command, 60)
    assert (before.ok, before.passed, before.failed) == (False, 7, 1)
    assert "last_file_that_fills_the_window" in before.failing[0]
    replace(repo / "budget.py", "< self.remaining", "<= self.remaining")
    after = await run_checks(repo, command, 60)
    assert (after.ok, after.passed, after.failed) == (True, 8, 0)
    with_pytest = await run_checks(repo, "pytest -q -p no:cacheprovider", 60)
    assert (with_pytest.ok, with_pytest.passed) == (True, 8)
    replace(repo / "budget.py", "<= self.remaining", "<= self.remaining + 1")
    assert not (await run_checks(repo, command, 60)).ok


async def test_hash_table_before_and_after(tmp_path):
    repo = create_demo("hash_table", tmp_path / "repo")
    before = await run_checks(repo, "make test", 60)
    assert (before.ok, before.passed) == (False, 0)
    for name in ("hash_table.h", "hash_table.c"):
        shutil.copy(SOLUTIONS / name, repo / "src")
    after = await run_checks(repo, "make test", 60)
    assert (after.ok, after.passed, after.failed) == (True, 12, 0)


WRONG_HASH_TABLES = {
    "keeps the caller's key": ("strcpy(entry->key, key);", "free(entry->key);\n    entry->key = (char *)key;"),
    "adds a second entry": ("            entry->value = value;\n            return true;", "            break;"),
    "forgets the chain": ("entry->next = table->buckets[bucket];", "entry->next = NULL;"),
    "deletes the rest too": ("*link = entry->next;", "*link = NULL;"),
    "forgets to count down": ("table->count--;", ";"),
    "does not rehash": ("size_t bucket = bucket_of(entry->key, bucket_count);", "size_t bucket = i % bucket_count;"),
}


@pytest.mark.parametrize("fault", WRONG_HASH_TABLES)
async def test_hash_table_catches(fault, tmp_path):
    repo = create_demo("hash_table", tmp_path / "repo")
    for name in ("hash_table.h", "hash_table.c"):
        shutil.copy(SOLUTIONS / name, repo / "src")
    replace(repo / "src" / "hash_table.c", *WRONG_HASH_TABLES[fault])
    result = await run_checks(repo, "make test", 60)
    assert not result.ok and result.failed and result.failed + (result.passed or 0) == 12


WEATHER_REPORTS = {
    "report_date": (
        "    return 0;",
        '    return snprintf(out, size, "%04d-%02d-%02d", one->year, one->month, one->day);',
    ),
    "report_cold_days": (
        "    return 0;",
        "    size_t cold = 0;\n    for (size_t i = 0; i < all->count; i++) {\n"
        "        cold += all->items[i].temperature <= limit;\n    }\n    return cold;",
    ),
    "report_seasons": (
        "",
        "    memset(days, 0, 4 * sizeof *days);\n    for (size_t i = 0; i < all->count; i++) {\n"
        "        days[date_season(all->items[i].month)]++;\n    }",
    ),
    "report_bar": (
        "    return NULL;",
        "    char *bar = malloc(width + 1);\n    if (bar != NULL) {\n        memset(bar, '.', width);\n"
        "        memset(bar, '#', filled);\n        bar[width] = '\\0';\n    }\n    return bar;",
    ),
}


async def test_weather_log_before_and_after(tmp_path):
    repo = create_demo("weather_log", tmp_path / "repo")
    before = await run_checks(repo, "make test", 60)
    assert (before.ok, before.passed, before.failed) == (False, 7, 5)
    report = repo / "src" / "report.c"
    headers = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include \"dates.h\"\n"
    replace(report, '#include "report.h"\n', f'#include "report.h"\n\n{headers}')
    for name, (stub, body) in WEATHER_REPORTS.items():
        before_it, _, after_it = report.read_text().partition(f"{name}(")
        old = f"    /* stub */\n{stub}\n" if stub else "    /* stub */\n"
        report.write_text(before_it + f"{name}(" + after_it.replace(old, f"{body}\n", 1))
    partly = await run_checks(repo, "make test", 60)
    assert (partly.passed, partly.failing) == (11, ("test_both_ends_lie_between",)), "the bug is another matter"
    replace(repo / "src" / "series.c", "reading_compare(&all->items[i], last) < 0", "reading_compare(&all->items[i], last) <= 0")
    after = await run_checks(repo, "make test", 60)
    assert (after.ok, after.passed, after.failed) == (True, 12, 0)
