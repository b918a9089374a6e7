"""Steps on existing code: symbols rewritten, search/replace blocks, protected tests, taken back when they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.coding.files import FolderFiles
from agent.coding.replies.new_symbol import add_symbol
from agent.coding.writing.candidates import Compiled
from agent.coding.writing.edit_step import StepOutcome, implement_step
from agent.events import EditApplied, EditRejected
from agent.values import PlanStep
from tests.coding.helpers import compile_in
from tests.fakes.context import run_context
from tests.fakes.server import ScriptedServer

BUDGET = b"""class Budget:
    def __init__(self, total):
        self.total = total
        self.used = 0

    def can_fit(self, n):
        return self.used + n < self.total
"""
FIXED = "```python\ndef can_fit(self, n):\n    return self.used + n <= self.total\n```"
STEP = PlanStep("s1", "can_fit must accept an exact fit.", ("budget.py",), ("Budget.can_fit",))


def tree(tmp_path: Path, **contents: bytes) -> FolderFiles:
    root = tmp_path / "repo"
    for name, data in {"budget.py": BUDGET, "tests/test_budget.py": b"def test_x():\n    assert 1\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    for name, data in contents.items():
        (root / name.replace("__", ".")).write_bytes(data)
    return FolderFiles(root)


async def run(
    tmp_path: Path, files: FolderFiles, step: PlanStep, script: object, **more: object
) -> tuple[StepOutcome, ScriptedServer, list[object]]:
    server = ScriptedServer(script)
    async with server, run_context(tmp_path, server, run_id=step.id) as ctx:
        outcome = await implement_step(
            ctx,
            step,
            files=files,
            compile=compile_in(files.root),
            task="Fix the budget",
            **more,  # type: ignore[arg-type]
        )
        await ctx.log.durable()
        return outcome, server, list(ctx.events)


async def test_a_symbol_is_written_anew_with_the_failing_check_shown(tmp_path: Path) -> None:
    files = tree(tmp_path)
    outcome, server, events = await run(tmp_path, files, STEP, FIXED, failure="assert can_fit(3)", context="CONTEXT")
    assert outcome.ok and outcome.files == ("budget.py",) and outcome.attempts == 1
    assert files.read_bytes("budget.py") == BUDGET.replace(b"n < self", b"n <= self")
    prompt = server.calls[0].prompt
    assert "    def can_fit(self, n):\n        return self.used + n < self.total" in prompt
    assert "assert can_fit(3)" in prompt and prompt.index("CONTEXT") < prompt.index("Step:")
    assert any(isinstance(event, EditApplied) and event.symbol == "Budget.can_fit" for event in events)


async def test_the_same_version_again_is_refused_and_said_so(tmp_path: Path) -> None:
    files = tree(tmp_path)
    same = "```python\ndef can_fit(self, n):\n    return self.used + n < self.total\n```"
    outcome, _, _ = await run(tmp_path, files, STEP, [("is the same as the old", FIXED), ("can_fit", same)])
    assert outcome.ok and outcome.attempts == 2


async def test_invalid_python_is_retried_with_the_error_and_a_failure_leaves_everything(tmp_path: Path) -> None:
    files = tree(tmp_path)
    bad = ["```python\ndef can_fit(self, n:\n    return\n```", "I cannot", "```python\ndef other():\n    pass\n```"]
    outcome, server, _ = await run(tmp_path, files, STEP, [("can_fit", bad)])
    assert not outcome.ok and len(server.calls) == 3 and "does not define" in outcome.reason
    assert "not valid Python" in server.calls[1].prompt
    assert files.read_bytes("budget.py") == BUDGET


async def test_of_a_symbol_without_a_body_the_wrong_line_is_not_shown_again(tmp_path: Path) -> None:
    stub = BUDGET.replace(b"return self.used + n < self.total", b"raise NotImplementedError")
    files = tree(tmp_path, budget__py=stub)
    step = PlanStep("s1", "Implement can_fit.", ("budget.py",), ("Budget.can_fit",), kind="function_implement")
    bad = "```python\ndef can_fit(self, n):\n    return [True if n for n in self.total]\n```"
    outcome, server, events = await run(tmp_path, files, step, [("earlier version", FIXED), ("can_fit", bad)])
    assert outcome.ok and outcome.attempts == 2
    assert "not valid Python" in server.calls[1].prompt and "True if n" not in server.calls[1].prompt
    assert any(isinstance(one, EditRejected) and "True if n" in one.reason for one in events)


async def test_an_undefined_name_is_told_and_a_standard_import_is_put_in(tmp_path: Path) -> None:
    files = tree(tmp_path)
    bad = "```python\ndef can_fit(self, n):\n    return math.ceil(size) <= self.total\n```"
    good = bad.replace("size", "self.used + n")
    outcome, _, events = await run(tmp_path, files, STEP, [("size is not defined", good), ("can_fit", bad)])
    assert outcome.ok and outcome.attempts == 2
    assert files.read_bytes("budget.py").startswith(b"import math\nclass Budget")
    assert any(isinstance(event, EditApplied) and event.kind == "import" for event in events)


async def test_a_stub_is_no_new_version(tmp_path: Path) -> None:
    files = tree(tmp_path)
    stub = "```python\ndef can_fit(self, n):\n    # TODO\n    pass\n```"
    outcome, server, _ = await run(tmp_path, files, STEP, [("still a stub", FIXED), ("can_fit", stub)])
    assert outcome.ok and len(server.calls) == 2


async def test_a_stub_that_facts_make_whole_is_not_asked_for(tmp_path: Path) -> None:
    stub = b"class FullError(BufferError):\n    def __init__(self, message):\n        pass\n"
    files = tree(tmp_path, full__py=stub)
    step = PlanStep("s1", "Implement FullError.", ("full.py",), ("FullError",), kind="function_implement")
    outcome, server, _ = await run(tmp_path, files, step, FIXED)
    assert outcome.ok and outcome.files == ("full.py",) and not server.calls
    assert files.read_bytes("full.py") == stub.replace(b"pass", b"super().__init__(message)")


async def test_a_new_method_and_a_new_function(tmp_path: Path) -> None:
    files = tree(tmp_path)
    step = PlanStep("s1", "Add them.", ("budget.py",), ("Budget.left", "helper"))
    script = [
        ("no Budget.left", "```python\ndef left(self):\n    return self.total - self.used\n```"),
        ("no helper", "```python\ndef helper():\n    return 1\n```"),
    ]
    outcome, _, _ = await run(tmp_path, files, step, script)
    assert outcome.ok
    expected = BUDGET + b"\n    def left(self):\n        return self.total - self.used\n\n\ndef helper():\n    return 1\n"
    assert files.read_bytes("budget.py") == expected


async def test_one_failing_symbol_takes_the_other_back(tmp_path: Path) -> None:
    files = tree(tmp_path)
    step = PlanStep("s1", "Both.", ("budget.py",), ("Budget.can_fit", "helper"))
    outcome, _, _ = await run(tmp_path, files, step, [("no helper", "no"), ("can_fit", FIXED)])
    assert not outcome.ok and files.read_bytes("budget.py") == BUDGET


async def test_search_replace_with_a_miss_shows_the_nearest_text(tmp_path: Path) -> None:
    files = tree(tmp_path)
    step = PlanStep("s1", "Rename total.", ("budget.py",))
    miss = "FILE: budget.py\n<<<<<<< SEARCH\n        self.totals = total\n=======\nx\n>>>>>>> REPLACE"
    hit = "<<<<<<< SEARCH\n        self.total = total\n=======\n        self.total = int(total)\n>>>>>>> REPLACE"
    outcome, server, events = await run(tmp_path, files, step, [("nearest text", hit), ("Rename", miss)])
    assert outcome.ok and b"int(total)" in files.read_bytes("budget.py")
    assert "The nearest text, at line 3, is:\n        self.total = total" in server.calls[1].prompt
    [rejected] = [event for event in events if isinstance(event, EditRejected)]
    assert rejected.nearest == "        self.total = total"


async def test_edits_of_protected_tests_are_refused_in_the_step_and_in_the_reply(tmp_path: Path) -> None:
    files = tree(tmp_path)
    guard = lambda path: path.startswith("tests/")  # noqa: E731
    step = PlanStep("s1", "Weaken.", ("tests/test_budget.py",))
    outcome, server, _ = await run(tmp_path, files, step, "x", protected=guard)
    assert not outcome.ok and "protected" in outcome.reason and server.calls == []
    reply = "FILE: tests/test_budget.py\n<<<<<<< SEARCH\n    assert 1\n=======\n    pass\n>>>>>>> REPLACE"
    outcome, _, _ = await run(tmp_path, files, PlanStep("s2", "Do.", ("budget.py",)), reply, protected=guard)
    assert not outcome.ok and "protected" in outcome.reason
    assert files.read_bytes("tests/test_budget.py") == b"def test_x():\n    assert 1\n"


async def test_a_new_file_is_taken_back_when_another_edit_breaks(tmp_path: Path) -> None:
    files = tree(tmp_path, add__c=b"int add(int a, int b) { return a; }\n")
    reply = (
        "FILE: new.c\n<<<<<<< SEARCH\n=======\nint one(void) { return 1; }\n>>>>>>> REPLACE\n"
        "FILE: add.c\n<<<<<<< SEARCH\n{ return a; }\n=======\n{ return a + c; }\n>>>>>>> REPLACE"
    )
    outcome, server, _ = await run(tmp_path, files, PlanStep("s1", "Do.", ("add.c",)), reply)
    assert not outcome.ok and not files.exists("new.c") and b"return a;" in files.read_bytes("add.c")
    assert len(server.calls) == 3


async def test_c_symbols_are_compiled_before_they_count(tmp_path: Path) -> None:
    files = tree(tmp_path, add__c=b"int add(int a, int b)\n{\n    return a;\n}\n")
    step = PlanStep("s1", "Add b.", ("add.c",), ("add",))
    bad = "```c\nint add(int a, int b)\n{\n    return a + c;\n}\n```"
    outcome, _, _ = await run(tmp_path, files, step, [("in this line", bad.replace("+ c", "+ b")), ("add", bad)])
    assert outcome.ok and outcome.attempts == 2
    assert files.read_bytes("add.c") == b"int add(int a, int b)\n{\n    return a + b;\n}\n"


async def test_a_changed_header_is_compiled_through_its_source(tmp_path: Path) -> None:
    files = tree(tmp_path, a__h=b"struct s { int n; };\n", a__c=b'#include "a.h"\nint f(struct s *x) { return x->n; }\n')
    compiled: list[str] = []

    async def compile(path: str, symbol: str = "", signature: str = "") -> Compiled:
        compiled.append(path)
        return await compile_in(files.root)(path, symbol)

    step = PlanStep("s1", "Rename n.", ("a.h",), ("s",))
    server = ScriptedServer("```c\nstruct s { int m; };\n```")
    async with server, run_context(tmp_path, server) as ctx:
        outcome = await implement_step(ctx, step, files=files, compile=compile)
    assert not outcome.ok and compiled == ["a.c"]
    assert "in this line" in server.calls[1].prompt
    assert files.read_bytes("a.h") == b"struct s { int n; };\n"


def test_a_new_symbol_in_a_crlf_file_without_final_newline() -> None:
    result = add_symbol(b"x = 1\r\ny = 2", "python", "f", "```python\ndef f():\n    return 1\n```")
    assert result.data == b"x = 1\r\ny = 2\r\n\r\n\r\ndef f():\r\n    return 1\r\n"


@pytest.mark.parametrize("deep", ["-" * 5000 + "n", "n" + " + n" * 5000, "n" + ".a" * 5000, "not " * 3000 + "n"])
async def test_an_expression_that_python_cannot_read_is_refused_and_asked_for_anew(tmp_path: Path, deep: str) -> None:
    files = tree(tmp_path)
    script = [("can_fit", [f"```python\ndef can_fit(self, n):\n    return {deep}\n```", FIXED])]
    outcome, _, _ = await run(tmp_path, files, STEP, script)
    assert outcome.ok
