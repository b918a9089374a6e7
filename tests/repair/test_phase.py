"""The phase in a whole run: a scripted model server, real git and pytest; what is shown is a fold over what happened."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent import events as ev
from agent.audit.history import events_of
from agent.audit.log import log_path
from agent.audit.reader import LogReader
from agent.flow.checks import RunChecks
from agent.gate import Breakpoint
from agent.launch import open_run
from agent.state.run_state import RunState
from agent.values import CheckResult
from tests.fakes import Answer, RecordedCall, ScriptedServer
from tests.repair.operators_on import only
from tests.repair.test_search import needs_cc

SLUG = 'def slug(text):\n    """Letters and digits only, in lower case."""\n    kept = [c for c in text if c.isalpha()]\n    return "".join(kept).lower()\n'  # noqa: E501
SLUG_TEST = "from slug import slug\n\n\ndef test_digits():\n    assert slug('A 1') == 'a1'\n\n\ndef test_plain():\n    assert slug('Ab') == 'ab'\n"  # noqa: E501
TAX = "def tax(price):\n    part = price * 19\n    return price + part\n"
TAX_TEST = "from tax import tax\n\n\ndef test_tax():\n    assert tax(100) == 119\n    assert tax(200) == 238\n"
TASK = "Fix the bug: the tests fail."


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A git repository with these files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


async def play(repo: Path, server: ScriptedServer, **sections: Any) -> tuple[ev.RunFinished, list[ev.Envelope]]:
    """One run to its end; ``with_model`` and configuration sections as keywords."""
    with_model, task = sections.pop("with_model", True), sections.pop("task", TASK)
    models = {"provider": "openai", "base_url": server.base_url}
    run = await open_run(task, repo, extra={"models": models, **sections}, with_model=with_model)
    heard: list[ev.Envelope] = []
    run.ctx.listeners.append(heard.append)
    try:
        return await run.execute(), heard
    finally:
        await run.aclose()


def of(heard: list[ev.Envelope], kind: type[ev.Event]) -> list[Any]:
    """The events of one kind."""
    return [one.event for one in heard if isinstance(one.event, kind)]


async def test_a_run_without_a_model(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": SLUG_TEST})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False)
    assert finished.status == "complete", finished.reason
    assert finished.calls == 0 and server.calls == []
    assert "isalnum" in of(heard, ev.DiffReady)[0].diff
    assert of(heard, ev.RepairFinished)[0].mended
    state = RunState()
    for envelope in heard:
        state.apply(envelope)
    assert state.repair is not None and state.repair.mended and state.repair.chosen
    reader = LogReader(log_path(repo))
    again = RunState()
    for envelope in events_of(reader, finished_run(heard)):
        again.apply(envelope)
    reader.close()
    assert again.repair == state.repair


def finished_run(heard: list[ev.Envelope]) -> str:
    """The id of the run."""
    return heard[0].run_id


async def test_the_edit_that_is_said_to_fit_is_taken(tmp_path: Path) -> None:
    source = "def largest(a, b):\n    if a < b:\n        return a\n    return b\n"
    test = "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n"
    repo = repository(tmp_path, {"largest.py": source, "test_largest.py": test})

    def answer(call: RecordedCall) -> Answer:
        return Answer("yes" if "+    if a > b:" in call.prompt else "no")

    async with ScriptedServer(answer) as server:
        finished, heard = await play(repo, server)
    assert finished.status == "complete", finished.reason
    assert "+    if a > b:" in of(heard, ev.DiffReady)[0].diff
    judged = of(heard, ev.CandidateJudged)
    assert 1 <= len(judged) <= 8 and sum(one.fits for one in judged) == 1
    assert not of(heard, ev.RepairChosen)[0].guess


async def test_nothing_is_asked_where_all_edits_that_pass_behave_alike(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": SLUG_TEST})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server)
    assert finished.status == "complete", finished.reason
    [chosen] = of(heard, ev.RepairChosen)
    assert not chosen.guess and "nothing to ask" in chosen.why
    assert of(heard, ev.CandidateJudged) == [] and finished.calls == 0
    assert "isalnum" in of(heard, ev.DiffReady)[0].diff


async def test_no_yes_is_a_guess_and_is_said(tmp_path: Path) -> None:
    source = "def largest(a, b):\n    if a < b:\n        return a\n    return b\n"
    test = "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n"
    repo = repository(tmp_path, {"largest.py": source, "test_largest.py": test})
    async with ScriptedServer("no") as server:
        _, heard = await play(repo, server)
    assert of(heard, ev.RepairChosen)[0].guess
    assert any("is a guess" in one.text for one in of(heard, ev.Notice))


async def test_the_model_fills_a_line_where_no_operator_helps(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"tax.py": TAX, "test_tax.py": TAX_TEST})

    def answer(call: RecordedCall) -> Answer:
        if call.path == "/infill":
            before = call.body["input_prefix"]
            return Answer("part = price * 19 // 100" if before.endswith("def tax(price):\n    ") else "pass")
        return Answer("yes")

    async with ScriptedServer(answer) as server:
        finished, heard = await play(repo, server, repair=only("constant", "arithmetic"))
    assert finished.status == "complete", finished.reason
    [passed] = of(heard, ev.CandidatePassed)[:1]
    assert passed.source == "cloze"
    assert "# tax.py" in next(call for call in server.calls if call.path == "/infill").body["input_prefix"]


async def test_the_way_of_before(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": SLUG_TEST})
    async with ScriptedServer("no") as server:
        _, heard = await play(repo, server, orchestrator={"decomposed_repair": False})
    assert of(heard, ev.RepairStarted) == []


async def test_a_search_that_finds_nothing_says_how_far_it_came(tmp_path: Path) -> None:
    test = "from tax import tax\n\n\ndef test_tax():\n    assert tax(100) == 'a hundred and nineteen'\n"
    repo = repository(tmp_path, {"tax.py": TAX, "test_tax.py": test})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False, repair=only("constant", "arithmetic"))
    assert finished.status == "failed"
    assert "edits tried in tax" in of(heard, ev.RepairFinished)[0].reason
    assert of(heard, ev.DiffReady)[0].diff == ""


LARGEST = {
    "largest.py": "def largest(a, b):\n    if a < b:\n        return a\n    return b\n",
    "test_largest.py": "from largest import largest\n\n\ndef test_it():\n    assert largest(1, 2) == 2\n",
}


async def test_edits_that_differ_are_told_apart_and_another_one_can_be_taken(tmp_path: Path) -> None:
    repo = repository(tmp_path, LARGEST)
    async with ScriptedServer("no") as server:
        models = {"provider": "openai", "base_url": server.base_url}
        run = await open_run(TASK, repo, extra={"models": models})
        heard: list[ev.Envelope] = []
        run.ctx.listeners.append(heard.append)
        try:
            assert (await run.execute()).status == "complete"
            [compared], [chosen] = of(heard, ev.CandidatesCompared), of(heard, ev.RepairChosen)
            assert len(compared.groups) > 1 and compared.inputs > 10
            assert chosen.guess and "largest(" in chosen.differing and f"edit {chosen.number} gives" in chosen.differing
            judged = [one.number for one in of(heard, ev.CandidateJudged)]
            assert judged == [group[0] for group in compared.groups][: len(judged)]  # one question a behaviour
            other = next(number for number in judged if number != chosen.number)
            refused, _ = await run.pick(99)
            done, text = await run.pick(other)
        finally:
            await run.aclose()
    assert not refused and done, text
    picked = of(heard, ev.RepairChosen)[-1]
    assert picked.picked and picked.number == other
    passed = {one.number: one.diff for one in of(heard, ev.CandidatePassed)}
    before, now = (one.diff for one in of(heard, ev.DiffReady))
    assert _changes(before) == _changes(passed[chosen.number]) and _changes(now) == _changes(passed[other])
    labels = sqlite3.connect(log_path(repo)).execute("select label, source from labels order by id").fetchall()
    assert labels == [(1, "person"), (0, "person")]
    state = RunState()
    for envelope in heard:
        state.apply(envelope)
    assert state.repair is not None and state.repair.taken is not None and state.repair.taken.passed.number == other


async def test_an_edit_that_fails_in_the_runs_place_gives_way_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path, LARGEST)
    final = RunChecks.final
    refused: list[CheckResult] = []

    async def refuses_first(self: RunChecks) -> CheckResult | None:
        now = await final(self)
        if now is not None and now.ok and not refused:
            refused.append(now)
            return msgspec.structs.replace(now, ok=False, passed=0, failed=1, passing=(), failing=now.passing)
        return now

    monkeypatch.setattr(RunChecks, "final", refuses_first)
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False)
    first, then = of(heard, ev.RepairChosen)
    steps = [(one.ok, one.rolled_back) for one in of(heard, ev.StepFinished)]
    assert finished.status == "complete" and refused and first.number != then.number
    assert steps == [(False, True), (True, False)]
    passed = {one.number: one.diff for one in of(heard, ev.CandidatePassed)}
    assert _changes(of(heard, ev.DiffReady)[-1].diff) == _changes(passed[then.number])


@pytest.mark.parametrize("takes", [True, False])
async def test_a_person_who_steps_sees_all_edits_before_one_is_written(tmp_path: Path, takes: bool) -> None:
    repo = repository(tmp_path, LARGEST)
    async with ScriptedServer("no") as server:
        run = await open_run(TASK, repo, extra={"models": {"provider": "openai", "base_url": server.base_url}})
        gate, heard = run.ctx.gate, list[ev.Envelope]()
        gate.breakpoints += [Breakpoint("fitting")] if takes else []
        seen: list[tuple[bool, int]] = []

        def listen(envelope: ev.Envelope) -> None:
            heard.append(envelope)
            if not isinstance(envelope.event, ev.GateWaiting):
                return
            if envelope.event.kind == "choice":
                written = (run.workspace.root / "largest.py").read_text() != LARGEST["largest.py"]
                chosen = of(heard, ev.RepairChosen)[-1].number
                seen.append((written, chosen))
                other = next(one.number for one in of(heard, ev.CandidateJudged) if one.number != chosen)
                asyncio.get_running_loop().call_soon(gate.take, other)
            else:
                asyncio.get_running_loop().call_soon(gate.resolve, "accept")

        run.ctx.listeners.append(listen)
        try:
            assert (await run.execute()).status == "complete"
        finally:
            await run.aclose()
    first, last = of(heard, ev.RepairChosen)[0], of(heard, ev.RepairChosen)[-1]
    labels = sqlite3.connect(log_path(repo)).execute("select label, source from labels order by id").fetchall()
    passed = {one.number: one.diff for one in of(heard, ev.CandidatePassed)}
    assert _changes(of(heard, ev.DiffReady)[0].diff) == _changes(passed[last.number])
    if takes:
        assert seen == [(False, first.number)]
        assert last.picked and last.number != first.number and labels == [(1, "person"), (0, "person")]
    else:
        assert seen == [] and not last.picked and labels == []


def _changes(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


STORE = """\
#include <stdlib.h>
#include <string.h>

int used(const char *text)
{
    return (int)strlen(text);
}

char *copy(const char *text)
{
    char *made = malloc(used(text));
    strcpy(made, text);
    return made;
}
"""
STORE_TEST = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int used(const char *);
char *copy(const char *);
int main(void)
{
    char *one;
    if (used("abc") != 3)
        return 1;
    puts("PASS used");
    fflush(stdout);
    one = copy("0123456789abcdef01234567");
    if (strlen(one) != 24)
        return 1;
    free(one);
    puts("PASS copy");
    return 0;
}
"""
OVERFLOW = {
    "store.c": STORE, "test_store.c": STORE_TEST,
    "Makefile": "test: t\n\t./t\nt: store.c test_store.c\n\t$(CC) -g -O1 -fsanitize=address -o $@ $^\n",
}  # fmt: skip


@needs_cc
async def test_what_a_sanitizer_names_is_evidence(tmp_path: Path) -> None:
    repo = repository(tmp_path, OVERFLOW)
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False, repair=only("allocation", "off-by-one"))
    [ranked] = of(heard, ev.SuspectsRanked)
    assert ranked.suspects[0].function == "copy" and "is named by the failure" in ranked.suspects[0].why
    assert finished.status == "complete", finished.reason
    assert "malloc(used(text) + 1)" in of(heard, ev.DiffReady)[0].diff


ROWS = """#include <stdlib.h>
struct rows { char **text; unsigned count; };
int rows_open(struct rows *r, unsigned count)
{
    r->text = malloc(count * sizeof *r->text);
    r->count = count;
    return r->text != NULL;
}
unsigned rows_used(const struct rows *r)
{
    unsigned used = 0;
    for (unsigned i = 0; i < r->count; i++)
        if (r->text[i] && r->text[i][0])
            used++;
    return used;
}
"""
ROWS_TEST = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct rows { char **text; unsigned count; };
int rows_open(struct rows *, unsigned);
unsigned rows_used(const struct rows *);
static void test_empty(void)
{
    struct rows r;
    char *old = malloc(40);
    memset(old, 7, 40);
    free(old);
    rows_open(&r, 5);
    printf("%s test_empty\\n", rows_used(&r) == 0 ? "PASS" : "FAIL");
    free(r.text);
}
int main(void)
{
    puts("PASS begun");
    fflush(stdout);
    test_empty();
    return 0;
}
"""


@needs_cc
@pytest.mark.parametrize("operators", [("allocation",), ("allocation", "cleared")])
async def test_an_edit_that_passes_by_chance_is_not_kept(tmp_path: Path, operators: tuple[str, ...]) -> None:
    """A larger block is one that nobody used before, so that what is never set happens to be 0."""
    make = "test: t\n\t./t\nt: rows.c test_rows.c\n\t$(CC) $(CFLAGS) -g -o $@ $^\n"
    repo = repository(tmp_path, {"rows.c": ROWS, "test_rows.c": ROWS_TEST, "Makefile": make})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False, repair=only(*operators))
    if not any(one.counts.get("found") for one in of(heard, ev.StageFinished) if one.stage == "diagnosis"):
        pytest.skip("no compiler here has sanitizers")
    assert of(heard, ev.CandidatePassed), "the larger block passes"
    refused = [one.detail for one in of(heard, ev.StepFinished) if not one.ok]
    if "cleared" in operators:
        assert finished.status == "complete" and "calloc(1, " in of(heard, ev.DiffReady)[0].diff
    else:
        assert finished.status == "failed" and "sanitizers still find a fault" in refused[0]


@needs_cc
async def test_a_compile_error_counts_as_a_failing_check(tmp_path: Path) -> None:
    source = "int count(int total, int part)\n{\n    return totl - part;\n}\n"
    main = "int count(int, int);\nint main(void)\n{\n    return count(5, 2) != 3;\n}\n"
    make = "test: t\n\t./t\nt: count.c main.c\n\t$(CC) -o $@ $^\n"
    repo = repository(tmp_path, {"count.c": source, "main.c": main, "Makefile": make})
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False)
    assert of(heard, ev.SuspectsRanked)[0].suspects[0].function == "count"
    assert finished.status == "complete", finished.reason
    assert "return total - part" in of(heard, ev.DiffReady)[0].diff


async def test_what_the_task_tells_becomes_a_test_first(tmp_path: Path) -> None:
    test = SLUG_TEST[SLUG_TEST.index("def test_plain") :]
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": f"from slug import slug\n\n\n{test}"})
    async with ScriptedServer("no") as server:
        finished, heard = await play(
            repo, server, with_model=False, task="slug('A 1') gives 'a' instead of 'a1'. Find the bug and fix it."
        )
    assert finished.status == "complete", finished.reason
    diff = of(heard, ev.DiffReady)[0].diff
    assert "isalnum" in diff and "+    assert slug('A 1') == 'a1'" in diff and "test_reported_slug.py" in diff
    assert of(heard, ev.RepairStarted)[0].failing == ("test_reported_slug.py::test_reported_1",)


@needs_cc
async def test_what_the_task_tells_becomes_a_check_of_a_c_program_that_is_there(tmp_path: Path) -> None:
    source = "int twice(int n)\n{\n    if (n < 4)\n        return n * 2;\n    return n;\n}\n"
    test = "#include <assert.h>\nint twice(int);\n\nint main(void)\n{\n    assert(twice(3) == 6);\n    return 0;\n}\n"
    make = "test: t\n\t./t\nt: twice.c test_twice.c\n\t$(CC) -o $@ $^\n"
    repo = repository(tmp_path, {"twice.c": source, "test_twice.c": test, "Makefile": make, ".gitignore": "t\n"})
    task = "twice(5) gives 5 instead of 10. Find the bug and fix it."
    async with ScriptedServer("no") as server:
        finished, heard = await play(repo, server, with_model=False, task=task)
    assert finished.status == "complete", finished.reason
    diff = of(heard, ev.DiffReady)[0].diff
    assert "+    assert(twice(5) == 10);" in diff and "twice.c" in diff
    assert of(heard, ev.RepairStarted)


@pytest.mark.parametrize(
    "task", ["slug('A 1') should be 'a'; fix it.", "Fix the bug: slug drops digits.", "Fix lost(1): lost(1) should be 2."]
)
async def test_no_test_is_written_where_the_task_shows_no_fault(tmp_path: Path, task: str) -> None:
    test = SLUG_TEST[SLUG_TEST.index("def test_plain") :]
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": f"from slug import slug\n\n\n{test}"})
    async with ScriptedServer("no") as server:
        _, heard = await play(repo, server, with_model=False, task=task)
    assert of(heard, ev.DiffReady)[0].diff == "" and of(heard, ev.RepairStarted) == []


REPORT = "Fix the bug: slug loses the digits of what it is given."
PLAIN_TEST = f"from slug import slug\n\n\n{SLUG_TEST[SLUG_TEST.index('def test_plain') :]}"


def says(*lines: str) -> Callable[[RecordedCall], Answer]:
    """A model that says what is reported as these lines, one a try, and stands by them."""
    left = list(lines)

    def answer(call: RecordedCall) -> Answer:
        if "Write the line." in call.prompt:
            return Answer(left.pop(0) if len(left) > 1 else left[0])
        return Answer("yes" if "fit the report?" in call.prompt else "no")

    return answer


async def test_what_the_task_tells_in_words_becomes_a_test_that_is_a_guess(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": PLAIN_TEST})
    async with ScriptedServer(says("slug('Ab') should return 'ab'", "`slug('A 1') == 'a1'`")) as server:
        finished, heard = await play(repo, server, task=REPORT, repair={"guess": True})
    [first, second] = [call.prompt for call in server.calls if "Write the line." in call.prompt]
    assert "isalpha()" in first and "already works" not in first and "already works" in second
    assert finished.status == "partial" and "is a guess" in finished.reason, finished.reason
    diff = of(heard, ev.DiffReady)[0].diff
    assert "isalnum" in diff and "+    assert slug('A 1') == 'a1'" in diff
    assert any(one.level == "warning" and "Nobody confirmed it" in one.text for one in of(heard, ev.Notice))


async def test_a_guess_that_no_edit_satisfies_gives_way_to_another_one(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": PLAIN_TEST})
    async with ScriptedServer(says("slug('A 1') should return 'zz'", "slug('A 1') should return 'a1'")) as server:
        finished, heard = await play(repo, server, task=REPORT, repair={"guess": True, **only("field")})
    assert "slug('A 1') should return 'a1' is a guess" in finished.reason, finished.reason
    assert "'zz'" not in of(heard, ev.DiffReady)[0].diff
    assert not any(call.path == "/infill" for call in server.calls)


async def test_no_model_guesses_where_nobody_confirms_it(tmp_path: Path) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": PLAIN_TEST})
    async with ScriptedServer(says("slug('A 1') should return 'a1'")) as server:
        await play(repo, server, task=REPORT)
    assert not [call for call in server.calls if "Write the line." in call.prompt]


TWICE = "Fix twice: numbers from 4 on come back unchanged."


@needs_cc
async def test_what_the_task_tells_in_words_becomes_a_check_of_a_c_program(tmp_path: Path) -> None:
    source = "int twice(int n)\n{\n    if (n < 4)\n        return n * 2;\n    return n;\n}\n"
    test = "#include <assert.h>\nint twice(int);\n\nint main(void)\n{\n    assert(twice(3) == 6);\n    return 0;\n}\n"
    make = "test: t\n\t./t\nt: twice.c test_twice.c\n\t$(CC) -o $@ $^\n"
    repo = repository(tmp_path, {"twice.c": source, "test_twice.c": test, "Makefile": make, ".gitignore": "t\n"})
    async with ScriptedServer(says("twice(5) should return 10")) as server:
        finished, heard = await play(repo, server, task=TWICE, repair={"guess": True})
    assert finished.status == "partial" and "a guess" in finished.reason, finished.reason
    assert "+    assert(twice(5) == 10);" in of(heard, ev.DiffReady)[0].diff


@pytest.mark.parametrize("answer", ["accept", "overrule"])
async def test_a_person_says_whether_the_check_is_what_the_task_means(tmp_path: Path, answer: str) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": PLAIN_TEST})
    async with ScriptedServer(says("slug('A 1') should return 'a1'")) as server:
        models = {"provider": "openai", "base_url": server.base_url}
        run = await open_run(REPORT, repo, extra={"models": models}, with_model=True)
        run.ctx.gate.breakpoints.append(Breakpoint("reported_meant"))
        heard: list[ev.Envelope] = []

        def listen(one: ev.Envelope) -> None:
            heard.append(one)
            if isinstance(one.event, ev.GateWaiting):
                asyncio.get_running_loop().call_soon(run.ctx.gate.resolve, answer)

        run.ctx.listeners.append(listen)
        finished = await run.execute()
        await run.aclose()
    [waiting] = of(heard, ev.GateWaiting)
    assert (waiting.item, waiting.verdict) == ("slug('A 1') should return 'a1'", True)
    mended = bool(of(heard, ev.RepairChosen))
    assert mended == (answer == "accept")
    if mended:
        assert finished.status == "complete" and "guess" not in finished.reason
    else:
        assert "reported" not in of(heard, ev.DiffReady)[0].diff


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("slug('A', 1) should return 'a1'", "it raises TypeError"),  # its own call is wrong
        ("slug of digits keeps them", "no call with literal"),
        ("slug('A 1') should return 'zz'", "taken out again"),  # no edit satisfies it
        ("slug('Ab') should return 'ab'", "already works"),
    ],
)
async def test_a_check_that_does_not_show_the_fault_is_not_kept(tmp_path: Path, line: str, why: str) -> None:
    repo = repository(tmp_path, {"slug.py": SLUG, "test_slug.py": PLAIN_TEST})
    async with ScriptedServer(says(line)) as server:
        _, heard = await play(repo, server, task=REPORT, repair={"guess": True, **only("field")})
    assert any(why in one.text for one in of(heard, ev.Notice))
    assert "reported" not in of(heard, ev.DiffReady)[0].diff


async def test_a_function_is_written_anew_where_no_line_helps(tmp_path: Path) -> None:
    source = "def score(word):\n    total = 0\n    for letter in word:\n        total += 7\n    return total\n"
    test = "from score import score\n\n\ndef test_score():\n    assert [score(w) for w in ('a', 'bz')] == [1, 28]\n"
    repo = repository(tmp_path, {"score.py": source, "test_score.py": test})
    asked: list[str] = []

    def answer(call: RecordedCall) -> Answer:
        if call.path == "/infill":
            return Answer("pass")
        if "Write the whole function score" not in call.prompt:
            return Answer("yes")
        asked.append(call.prompt)
        if "total += 7" in call.prompt:
            return Answer("```python\ndef score(word):\n    return sum(ord(letter) - 96 for letter in word)\n```\n")
        return Answer(f"```python\n{source}```\n")

    async with ScriptedServer(answer) as server:
        finished, heard = await play(repo, server, repair=only("statement-moved"))
    assert finished.status == "complete", finished.reason
    [passed] = of(heard, ev.CandidatePassed)[:1]
    assert passed.source == "anew" and "sum(ord(letter) - 96" in of(heard, ev.DiffReady)[0].diff
    assert len(asked) == 2 and "total += 7" not in asked[0]  # out of sight first; a copy is no candidate


@pytest.mark.parametrize("said", ["'garbage\\n'", "'{\"id\": 7}\\n'", "'x' * (1 << 27) + '\\n'"])
async def test_code_that_writes_into_the_pipe_of_its_own_worker_ends_no_run(tmp_path: Path, said: str) -> None:
    spoiling = f"import os\nfor name in ('replies', 'requests'):\n    if os.path.exists('../' + name):\n        open('../' + name, 'w').write({said})\n{SLUG}"  # noqa: E501
    repo = repository(tmp_path, {"slug.py": spoiling, "test_slug.py": SLUG_TEST})
    async with ScriptedServer("no") as server:
        few = only("field", "negation", "result", "statement-moved", "statement-removed")
        finished, _ = await play(repo, server, with_model=False, repair=few)
    assert finished.status in ("failed", "partial", "complete") and finished.reason
