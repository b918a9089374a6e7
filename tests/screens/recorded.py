"""Recorded runs for tests, screenshots and benchmarks: built by hand, the same every time.

``worked_example``: 3 scope calls, then 8 → 7 → 4. ``ring_buffer`` writes C functions with a missing include.
``failing`` has a step that fails and a plan that is adjusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from agent import events as ev
from agent.audit.reader import CallTexts
from agent.values import CheckResult, Diagnostic, FailureSignal, PlanStep, Rung

MODEL = "qwen2.5-coder-1.5b"
BUDGET_TASK = (
    "Fix the off-by-one error in the token budget calculation that causes the last file to be silently dropped from the"
    " context window"
)
RING_TASK = "Implement the functions declared in ring_buffer.h"


class Recorder:
    """Numbers events, calls and time."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.envelopes: list[ev.Envelope] = []
        self.texts: dict[int, CallTexts] = {}
        self.t = 0.0
        self.call_id = 0

    def add(self, event: ev.Event, seconds: float = 0.05) -> None:
        """One event, ``seconds`` after the last."""
        self.t = round(self.t + seconds, 3)
        self.envelopes.append(ev.Envelope(self.run_id, len(self.envelopes) + 1, self.t, event))  # type: ignore[arg-type]

    def call(self, stage: str, item: str, verdict: bool | None, p: float | None = None, **fields: object) -> int:
        """A whole call: asked, answered, with its texts."""
        self.call_id += 1
        call_id, ms = self.call_id, float(fields.pop("ms", 380 + (self.call_id * 37) % 90))  # type: ignore[arg-type]
        question = str(fields.pop("question", f"Symbol: {item}\nAnswer yes or no."))
        raw = fields.pop("raw", {True: "yes", False: "no", None: "int x = buf[i];"}[verdict])
        binary = verdict is not None
        self.add(ev.CallStarted(call_id, stage, item, MODEL, binary))
        threshold = 0.42 if p is not None else None
        sign = "≥" if verdict else "<"
        explanation = f"P(yes) {p:.2f} {sign} 0.42: {'yes' if verdict else 'no'}" if p is not None else ""
        values: dict[str, object] = {
            "p_yes": p, "score": p, "threshold": threshold, "source": "threshold" if p is not None else None, "model": MODEL,
            "provider": "embedded", "ms": ms, "prompt_tokens": 117, "cached_tokens": 82, "completion_tokens": 1,
            "explanation": explanation, **fields,
        }  # fmt: skip
        self.add(ev.CallFinished(call_id, stage, item, verdict, **values), ms / 1000)  # type: ignore[arg-type]
        self.texts[call_id] = CallTexts(
            call_id, self.run_id, call_id, stage, item,
            system="You judge one piece of code at a time.\nAnswer with one word: yes or no.",
            task_context=f"Task: {BUDGET_TASK if self.run_id == 'budget' else RING_TASK}\nIntent: as the task says\n\n",
            question=question, raw=str(raw), options='{"max_tokens":16,"temperature":0.0,"seed":42}', model=MODEL,
            provider="embedded", verdict=verdict, p_yes=p, prompt_tokens=117, cached_tokens=82, completion_tokens=1,
            ms=ms, explanation=explanation, binary=binary,
        )  # fmt: skip
        return call_id


_SYMBOLS = (
    ("budget.py", "BudgetTracker", "class", 0.81, 0.77, None), ("budget.py", "can_fit", "method", 0.77, 0.74, None),
    ("budget.py", "remaining", "method", 0.63, 0.58, None),
    ("token_estimation.py", "estimate_tokens", "function", 0.58, 0.31, 0.66),
    ("token_estimation.py", "estimate_tokens_conservative", "function", 0.52, 0.22, 0.51),
    ("token_estimation.py", "CHARS_PER_TOKEN", "constant", 0.49, 0.18, 0.20),
    ("context_assembly.py", "assemble_context", "function", 0.55, 0.36, 0.33),
    ("context_assembly.py", "_refilter_files", "function", 0.31, None, None),
)  # fmt: skip


def worked_example() -> Recorder:
    """The worked example up to the assembled context and the plan."""
    r = Recorder("budget")
    r.add(ev.RunStarted(BUDGET_TASK, "/home/ada/token_budget", "cra/budget", "4f2a91c", model=MODEL))
    r.add(ev.StageStarted("index", title="index"))
    r.add(ev.IndexRefreshed(5, 31, 5, ms=180, languages={"python": 5}))
    r.add(ev.StageFinished("index", 180, {"files": 5}))
    r.add(ev.StageStarted("scope", 3, "scope"))
    for path, tier, reason in (("budget.py", 0, "named by the task"), ("token_estimation.py", 1, "defines BudgetTracker")):
        r.add(ev.FileScoped(path, tier, reason, True, judged=False), 0)
    scope = (
        ("context_assembly.py", 2, "imports budget.py", True, 0.61),
        ("pipeline.py", 3, "changed together 4 times", True, 0.47),
        ("scope_stage.py", 4, "found by “budget”", False, 0.29),
    )  # fmt: skip
    for path, tier, reason, verdict, p in scope:
        r.call("scope", path, verdict, p, question=f"File: {path}\nWhy it is here: {reason}\nIs it relevant?\n")
        r.add(ev.FileScoped(path, tier, reason, verdict), 0)
    r.add(ev.StageFinished("scope", 1240, {"files": 4}))
    relevant = [s for s in _SYMBOLS if s[3] >= 0.42]
    direct = [s for s in relevant if (s[4] or 0) >= 0.42]
    rest = [s for s in relevant if s not in direct]
    for number, symbols, at in ((1, _SYMBOLS, 3), (2, tuple(relevant), 4), (3, tuple(rest), 5)):
        r.add(ev.StageStarted(f"precision_pass{number}", len(symbols), ("relevant?", "direct?", "source?")[number - 1]))
        for symbol in symbols:
            path, name, kind, p = symbol[0], symbol[1], symbol[2], float(symbol[at] or 0)
            question = f"Symbol: {name} ({kind}) in {path}\nsig: def {name}(self, tokens: list[int]) -> bool\nAnswer:"
            r.call(f"precision_pass{number}", f"{path}:{name}", p >= 0.42, p, question=question)
        yes = tuple(f"{s[0]}:{s[1]}" for s in symbols if float(s[at] or 0) >= 0.42)
        r.add(ev.CascadePass(number, len(symbols), len(yes), len(symbols) - len(yes), yes), 0)
        r.add(ev.StageFinished(f"precision_pass{number}", 3000, {"yes": len(yes)}), 0)
    for symbol in _SYMBOLS:
        level = "supporting" if (symbol[5] or 0) >= 0.42 else "type_context"
        level = "excluded" if symbol not in relevant else "primary" if symbol in direct else level
        r.add(ev.SymbolClassified(symbol[1], level, symbol[0], symbol[2]), 0)  # type: ignore[arg-type]
    for library in ("httpx.Client", "sqlite3.Connection"):
        r.add(ev.SymbolClassified(library, "type_context", "", "class", "library"), 0)
    r.add(ev.StageStarted("assembly", title="assembly"))
    files = ("budget.py", "token_estimation.py", "context_assembly.py", "pipeline.py")
    r.add(ev.ContextAssembled(5123, 6144, files))
    r.add(ev.StageFinished("assembly", 40, {"tokens": 5123}))
    return r


_FUNCTIONS = ("ring_create", "ring_destroy", "ring_push", "ring_pop", "ring_peek", "ring_clear", "ring_copy_out", "ring_max")
_IMPLICIT = Diagnostic(
    "error", "implicit declaration of function ‘malloc’", "ring_buffer.c", 13, 23, "implicit-function-declaration",
    "    ring_buffer *rb = malloc(sizeof *rb);", ("include ‘<stdlib.h>’ or provide a declaration of ‘malloc’",),
    ("stdlib.h",),
)  # fmt: skip
DIFF = """diff --git a/ring_buffer.c b/ring_buffer.c
index 3b18e51..9c2f1d0 100644
--- a/ring_buffer.c
+++ b/ring_buffer.c
@@ -1,4 +1,6 @@
 #include "ring_buffer.h"
+#include <stdlib.h>
+#include <string.h>
 #include "log.h"
 size_t ring_count(const ring_buffer *rb)
 {
@@ -7,8 +9,16 @@ size_t ring_count(const ring_buffer *rb)
 /* makes */
 ring_buffer *ring_create(size_t capacity)
 {
-    /* stub */
-    return NULL;
+    if (capacity == 0)
+        return NULL;
+    ring_buffer *rb = malloc(sizeof *rb);
+    if (!rb)
+        return NULL;
+    rb->data = malloc(capacity * sizeof rb->data[0]);
+    rb->capacity = capacity;
+    rb->head = rb->count = 0;
+    return rb;
 }
"""


def ring_buffer(until: str = "end") -> Recorder:
    """A C run. ``until`` ends the recording early: ``compile`` in the middle of the writing, ``diff`` before the choice."""
    r = Recorder("ring")
    r.add(ev.RunStarted(RING_TASK, "/home/ada/ring_buffer", "cra/ring", "7d20b11", model=MODEL))
    r.add(ev.StageStarted("index", title="index"))
    r.add(ev.IndexRefreshed(6, 24, 6, ms=90, languages={"c": 6}))
    r.add(ev.StageFinished("index", 90, {"files": 6}))
    baseline = CheckResult("make test", 2, False, 1, 8, _FUNCTIONS, ("ring_count",), 0.4, output="1 passed, 8 failed\n")
    r.add(ev.ChecksStarted("make test", baseline=True))
    r.add(ev.ChecksRun(baseline), 0.4)
    r.add(ev.StageStarted("scope", 3, "scope"))
    asked = (("log.h", False, 0.21), ("tests/test_ring_buffer.c", True, 0.56), ("examples/demo.c", False, 0.33))
    for path, verdict, p in asked:
        r.call("scope", path, verdict, p)
        r.add(ev.FileScoped(path, 2, "includes ring_buffer.h", verdict), 0)
    r.add(ev.StageFinished("scope", 1300, {"files": 3}))
    steps = tuple(
        PlanStep(f"s{n}", f"Implement {name}", ("ring_buffer.c",), (name,), (f"s{n - 1}",) if n > 1 else (), "ring_buffer.c",
                 "function_implement")
        for n, name in enumerate(_FUNCTIONS, 1)
    )  # fmt: skip
    r.add(ev.PlanMade(steps, "facts: 8 stubs declared in ring_buffer.h", ("ring_buffer.c",)))
    for number, (step, name) in enumerate(zip(steps, _FUNCTIONS, strict=True), 1):
        _write(r, step, name, number)
        if until == "compile" and number == 3:
            return r
    now = CheckResult("make test", 0, True, 9, 0, (), ("ring_count", *_FUNCTIONS), 0.5, output="9 passed\n")
    r.add(ev.ChecksStarted("make test"))
    r.add(ev.ChecksRun(baseline, now, _FUNCTIONS), 0.5)
    r.add(ev.DiffReady(DIFF, ("ring_buffer.c",), 11, 2, "cra/ring"))
    r.add(ev.RunFinished("complete", "", r.call_id, 0, r.t, 8, 0, 0, 2, baseline, now, "cra/ring"))
    if until == "end":
        r.add(ev.DiffResolved("applied", "1 file changed."), 4)
    return r


def _write(r: Recorder, step: PlanStep, name: str, number: int) -> None:
    r.add(ev.StepStarted(step.id, step.description))
    r.add(ev.FunctionStarted(name, "ring_buffer.c", 1, 3))
    body = f"bool {name}(ring_buffer *rb, int value)\n{{\n    rb->data[rb->head] = value;\n    return true;\n}}\n"
    r.call("function_implement", name, None, raw=body, ms=8400 + number * 130, completion_tokens=96,
           question=f"Write the function {name}.\n")  # fmt: skip
    r.add(ev.CompileStarted("ring_buffer.c", "gcc -c ring_buffer.c", symbol=name))
    if number == 1:
        r.add(ev.CompileFinished("ring_buffer.c", False, (_IMPLICIT,), 41, symbol=name), 0.05)
        ladder = (
            Rung("Does the compiler name a header?", "yes: <stdlib.h>", "deterministic"),
            Rung("Does it compile with the header?", "yes", "recompile"),
        )
        how = "fixit of the compiler"
        r.add(ev.ErrorClassified("ring_buffer.c", "missing_include", how, ladder, "stdlib.h", symbol=name))
        r.add(ev.IncludeAdded("ring_buffer.c", "stdlib.h", 2, "#include <stdlib.h>", symbol=name))
        r.add(ev.CompileStarted("ring_buffer.c", symbol=name))
        r.add(ev.CompileFinished("ring_buffer.c", True, (), 44, symbol=name), 0.05)
        text = "the header was inserted and it compiles"
        r.add(ev.RecoveryDone("ring_buffer.c", "missing_include", text, True, False, name))
    elif number == 3:
        wrong = Diagnostic("error", "‘ring_buffer’ has no member named ‘tail’; did you mean ‘data’?", "ring_buffer.c", 31, 7,
                           source_line="    rb->tail[i] = value;")  # fmt: skip
        r.add(ev.CompileFinished("ring_buffer.c", False, (wrong,), 40, symbol=name))
        rungs = (
            Rung("Is a header missing?", "no", "deterministic"),
            Rung("Does the signature differ from the header?", "no", "deterministic"),
            Rung("Is something used that is not defined?", "no", "model", r.call(
                "error_classify_definition", f"ring_buffer.c:{name}", False, 0.12)),
        )  # fmt: skip
        r.add(ev.ErrorClassified("ring_buffer.c", "logic_error", "default", rungs, symbol=name))
        r.add(ev.RecoveryDone("ring_buffer.c", "logic_error", "asked again with the compiler's words", True, True, name))
        r.add(ev.FunctionStarted(name, "ring_buffer.c", 2, 3))
        r.call("function_implement", name, None, raw=body, ms=8900, attempt=2, completion_tokens=90)
        r.add(ev.CompileFinished("ring_buffer.c", True, (), 43, symbol=name))
    else:
        r.add(ev.CompileFinished("ring_buffer.c", True, (), 42, symbol=name))
    r.add(ev.FunctionImplemented(name, "ring_buffer.c", 2 if number == 3 else 1, 9))
    r.add(ev.StepFinished(step.id, True, "compiles", f"{number:x}a2b3c4d5e", ("ring_buffer.c",)))


def failing() -> Recorder:
    """A step fails, the plan is adjusted by verdicts, the run ends partial."""
    r = Recorder("hash")
    r.add(ev.RunStarted("Write hash_table.c from its header", "/home/ada/hash_table", "cra/hash", model=MODEL))
    names = ("table_create", "table_put", "table_get", "table_resize")
    steps = tuple(PlanStep(f"s{n}", f"Implement {name}", ("hash_table.c",), (name,)) for n, name in enumerate(names, 1))
    r.add(ev.PlanMade(steps, "one planning call"))
    r.add(ev.StepStarted("s1", steps[0].description))
    r.add(ev.StepFinished("s1", True, "compiles", "a1b2c3d4"))
    r.add(ev.StepStarted("s2", steps[1].description))
    r.add(ev.StepFinished("s2", False, "‘struct bucket’ has no member named ‘next’", rolled_back=True))
    signal = FailureSignal("compile_error", "‘struct bucket’ has no member named ‘next’", "gcc")
    r.add(ev.FailureSignals((signal, FailureSignal("test_failure", "test_put: expected 3, got 0", "make test")), "s2"))
    remaining = ("s2", "s3", "s4")
    failures = (signal.message, "test_put: expected 3, got 0")
    r.add(ev.AdjustmentStarted(1, failures, remaining, ("s1",), 12))
    for step, viable in zip(remaining, (True, True, False), strict=True):
        call = r.call("adjustment_step_viability", step, viable, 0.7 if viable else 0.2)
        r.add(ev.ViabilityVerdict(step, viable, call_id=call), 0)
    for failure in (0, 1):
        for step in ("s2", "s3"):
            caused = (failure, step) == (0, "s2")
            call = r.call("adjustment_root_cause", f"F{failure + 1} {step}", caused, 0.66 if caused else 0.3)
            r.add(ev.RootCauseVerdict(failure, step, caused, call_id=call), 0)
    r.add(ev.NewStepVerdict(1, True, call_id=r.call("adjustment_new_step", "F2", True, 0.58)), 0)
    added = PlanStep("s5", "Define struct bucket with a next pointer", ("hash_table.c",), kind="type_definition")
    r.add(ev.PlanAdjusted(steps[1:], (added, *steps[1:3]), "a type was missing", ("s5 added", "s4 dropped"), 8, "verdicts"))
    r.add(ev.Notice("warning", "Step s4 was dropped: it is not viable without table_resize in the header.", "adjustment"))
    before = CheckResult("make test", 2, False, 0, 6)
    still = ("test_resize", "test_grow")
    after = CheckResult("make test", 2, False, 4, 2, still, seconds=0.6, output="4 passed, 2 failed\n")
    r.add(ev.ChecksRun(before, after, ("test_put", "test_get", "test_new", "test_free")))
    r.add(ev.DiffReady(DIFF, ("hash_table.c",), 11, 2, "cra/hash"))
    reason = "3 of 4 functions are in place; table_resize is still a stub."
    r.add(ev.RunFinished("partial", reason, r.call_id, 2, r.t, 3, 1, 1, 1, before, after, "cra/hash"))
    return r


def many_calls(count: int) -> Iterator[ev.Envelope]:
    """``count`` answered calls, two events each."""
    yield ev.Envelope("many", 1, 0.0, ev.RunStarted("Judge a great many symbols", "/home/ada/linux", model=MODEL))
    yield ev.Envelope("many", 2, 0.0, ev.StageStarted("precision_pass1", count, "precision"))
    for n in range(count):
        item, t = f"src/module_{n % 977}.c:symbol_{n}", n / 1000
        yield ev.Envelope("many", 2 * n + 3, t, ev.CallStarted(n + 1, "precision_pass1", item, MODEL))
        verdict, p_yes = n % 3 == 0, (n % 100) / 100
        done = ev.CallFinished(n + 1, "precision_pass1", item, verdict, p_yes, source="threshold", model=MODEL, ms=4.0)
        yield ev.Envelope("many", 2 * n + 4, t, done)


RECORDINGS: dict[str, Callable[[], Recorder]] = {"budget": worked_example, "ring": ring_buffer, "failing": failing}


def texts_of(recorder: Recorder) -> Callable[[Path, int], CallTexts | None]:
    """The ``call_texts`` service of a recording."""
    return lambda repo, call_id: recorder.texts.get(call_id)
