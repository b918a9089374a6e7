"""A test that ends at its first assertion: what led there is shown, and coming further counts as progress."""

from pathlib import Path

import pytest

from agent import events as ev
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.coder import Coder
from tests.flow.test_run import of, play

TASK = "Implement the functions declared in text.h."
NO_SEARCH = {"decomposed_repair": False}
"""No small edit is what these tests are about."""

HEADER = """#ifndef TEXT_H
#define TEXT_H
/* A text of up to 31 characters. */
struct text { char data[32]; int len; };
/* Makes it empty. */
void text_init(struct text *t);
/* Appends one character. */
void text_put(struct text *t, char c);
/* Appends the digits of n, with a minus sign when it is negative. */
void text_number(struct text *t, int n);
/* Doubles the text. */
void text_twice(struct text *t);
#endif
"""
SOLUTION = b"""#include "text.h"

void text_init(struct text *t)
{
    t->len = 0;
    t->data[0] = 0;
}

void text_put(struct text *t, char c)
{
    t->data[t->len++] = c;
    t->data[t->len] = 0;
}

void text_number(struct text *t, int n)
{
    if (n < 0)
        text_put(t, '-');
    if (n / 10)
        text_number(t, n < 0 ? -(n / 10) : n / 10);
    text_put(t, '0' + (n < 0 ? -(n % 10) : n % 10));
}

void text_twice(struct text *t)
{
    int n = t->len;
    for (int i = 0; i < n; i++)
        text_put(t, t->data[i]);
}
"""
TEST = """#include <assert.h>
#include <string.h>
#include "text.h"
int main(void)
{
    struct text t;
    text_init(&t);
    text_put(&t, 'a');
    assert(strcmp(t.data, "a") == 0);
    text_init(&t);
    text_number(&t, -12);
    const char *want = "-12";
    assert(strcmp(t.data, want) == 0);
    text_twice(&t);
    assert(t.len == 6);
    return 0;
}
"""
MAKEFILE = "test: ; $(CC) -g test_text.c text.c -o t && ./t\n"
NO_SIGN = """void text_number(struct text *t, int n)
{
    if (n < 0)
        n = -n;
    if (n / 10)
        text_number(t, n / 10);
    text_put(t, '0' + n % 10);
}"""
NOTHING = "void text_twice(struct text *t)\n{\n    t->len += 0;\n}"


def project(root: Path) -> Path:
    root.mkdir()
    for name, text in {
        "text.h": HEADER, "text.c": '#include "text.h"\n', "test_text.c": TEST, "Makefile": MAKEFILE
    }.items():  # fmt: skip
        (root / name).write_text(text)
    return root


class Silent(Coder):
    """Blames nothing: what is rewritten follows from the failure's own words alone."""

    def __call__(self, call: RecordedCall) -> Answer:
        return Answer("no") if "cause" in call.system.lower() else super().__call__(call)


async def test_functions_that_the_failing_line_does_not_name_are_found_by_the_lines_above(tmp_path: Path) -> None:
    coder = Silent(SOLUTION, first={"text_number": NO_SIGN, "text_twice": NOTHING})
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(project(tmp_path / "r"), server, TASK, sections={"orchestrator": NO_SEARCH})
    assert (finished.status, finished.tests_after and finished.tests_after.ok) == ("complete", True), finished.reason
    assert coder.asked.count("text_number") == 2 and coder.asked.count("text_twice") == 2
    assert coder.asked.count("text_init") == coder.asked.count("text_put") == 1
    shown = [signal.message for event in of(heard, ev.FailureSignals) for signal in event.signals]
    assert any("text_number(&t, -12);\n" in message for message in shown)


SMALL = """void text_init(struct text *t)
{
    t->data = malloc(1);
    t->data[0] = 0;
    t->len = 0;
    t->room = 1;
}"""
TIGHT = """void text_put(struct text *t, char c)
{
    if (t->len + 1 > t->room) {
        t->room = t->len + 1;
        t->data = realloc(t->data, t->room);
    }
    t->data[t->len++] = c;
    t->data[t->len] = 0;
}"""
ROOMY = TIGHT.replace("t->len + 1", "t->len + 2")


GROWS = HEADER.replace("char data[32]; int len;", "char *data; int len, room;")


def growing(put: str) -> bytes:
    """The solution for texts in memory that grows, with this text_put."""
    begin, end = SOLUTION.index(b"void text_init"), SOLUTION.index(b"void text_number")
    return SOLUTION[:begin] + f"{SMALL}\n\n{put}\n\n".encode() + SOLUTION[end:]


async def test_a_fault_that_no_check_shows_is_mended_with_the_one_that_does(tmp_path: Path) -> None:
    """The test stops at what text_number writes; sanitizers find that text_put writes behind its memory as well."""
    coder = Silent(growing(ROOMY), first={"text_put": TIGHT, "text_number": NO_SIGN})
    root = project(tmp_path / "r")
    (root / "text.h").write_text(GROWS)
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(root, server, TASK, sections={"orchestrator": NO_SEARCH})
    assert finished.status == "complete", finished.reason
    if not any(one.stage == "diagnosis" and one.counts.get("found") for one in of(heard, ev.StageFinished)):
        pytest.skip("no compiler here has sanitizers")
    assert coder.asked.count("text_put") == 2 and coder.asked.count("text_number") == 2
    [diff] = of(heard, ev.DiffReady)
    assert "t->len + 2 > t->room" in diff.diff


@pytest.mark.parametrize("mends", [True, False])
async def test_what_only_sanitizers_find_is_written_anew_or_told(tmp_path: Path, mends: bool) -> None:
    """Every check passes: the byte behind the memory is nobody else's, by chance."""
    coder = Silent(growing(ROOMY if mends else TIGHT), first={"text_put": TIGHT})
    root = project(tmp_path / "r")
    (root / "text.h").write_text(GROWS)
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(root, server, TASK, sections={"orchestrator": NO_SEARCH})
    assert finished.status == "complete", finished.reason
    if not any(one.stage == "diagnosis" and one.counts.get("found") for one in of(heard, ev.StageFinished)):
        pytest.skip("no compiler here has sanitizers")
    [diff] = of(heard, ev.DiffReady)
    assert (coder.asked.count("text_put") > 1, "t->len + 2 > t->room" in diff.diff) == (True, mends)
    told = [one.text for one in of(heard, ev.Notice) if "sanitizers find a fault" in one.text]
    assert bool(told) != mends and all("text_put" in one for one in told)


async def test_a_version_that_hangs_is_no_better_than_one_with_a_fault(tmp_path: Path) -> None:
    """It comes to no fault that sanitizers could find."""
    hangs = TIGHT.replace("    t->data[t->len++]", "    for (volatile int on = 1; on;) { }\n    t->data[t->len++]")
    coder = Silent(growing(hangs), first={"text_put": TIGHT, "text_number": NO_SIGN})
    coder.first["text_number"] = coder.functions["text_number"] = NO_SIGN
    root = project(tmp_path / "r")
    (root / "text.h").write_text(GROWS)
    short = {"testing": {"timeout_seconds": 2}, "orchestrator": NO_SEARCH, "coding": {"rework_rounds": 1}}
    async with ScriptedServer(coder) as server:
        finished, heard, _ = await play(root, server, TASK, sections=short)
    assert finished.status == "partial", finished.reason
    assert coder.asked.count("text_put") > 1
    assert "volatile" not in of(heard, ev.DiffReady)[0].diff


STUBS = '''"""Vectors."""


class Vector:
    """Numbers in a row."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def __matmul__(self, other):
        """The inner product."""
        raise NotImplementedError

    def longest(self):
        """The largest number by its size; 0 for the empty vector."""
        raise NotImplementedError
'''
VECTOR_TEST = """from vector import Vector


def test_product():
    assert (Vector(1, 2) @ Vector(3, 4)) == 11


def test_longest():
    assert Vector(1, -5, 3).longest() == -5
    assert Vector().longest() == 0
"""


def method(head: str, line: str) -> Answer:
    return Answer(f"```python\ndef {head}:\n    {line}\n```")


class Nearly:
    """Answers as a small model does: a first version that is nearly right, and another when it is asked afresh."""

    def __init__(self) -> None:
        self.prompts: dict[str, list[str]] = {"__matmul__": [], "longest": []}

    def __call__(self, call: RecordedCall) -> Answer:
        if call.body.get("max_tokens", 0) <= 32:
            return Answer("no" if "cause" in call.system.lower() else "yes")
        name = next((one for one in self.prompts if f"Write Vector.{one} of" in call.prompt), "")
        if not name:
            return Answer("Write the methods.")
        right = bool(self.prompts[name])
        self.prompts[name].append(call.prompt)
        if name == "__matmul__":
            what = "a * b for a, b in zip(self.numbers, other.numbers)" if right else "self.numbers"
            return method("__matmul__(self, other)", f"return sum({what})")
        return method("longest(self)", f"return max(self.numbers, key=abs{', default=0' if right else ''})")


async def test_python_that_fails_is_asked_for_afresh_and_never_shown(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    (root / "vector.py").write_text(STUBS)
    (root / "test_vector.py").write_text(VECTOR_TEST)
    model = Nearly()
    async with ScriptedServer(model) as server:
        task = "Implement the methods of Vector that are missing in vector.py."
        finished, _, _ = await play(root, server, task, sections={"orchestrator": NO_SEARCH})
    assert finished.status == "complete", finished.reason
    assert finished.tests_after is not None and finished.tests_after.passed == 2
    assert not any("return sum(self.numbers)" in prompt for prompt in model.prompts["__matmul__"])


BOX = '''class Full(Exception):
    """Raised when nothing fits in.

    message: what is full.
    """

    def __init__(self, message):
        pass


class Box:
    """Holds so many things."""

    def __init__(self, room):
        pass

    def put(self, one):
        pass
'''
BOX_TEST = """from box import Box, Full


def test_full():
    try:
        Box(0).put(1)
    except Full as error:
        assert error.args == ("no room",)
    else:
        raise AssertionError("it took one more")
"""


async def test_a_class_that_facts_made_is_asked_of_no_model(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    (root / "box.py").write_text(BOX)
    (root / "test_box.py").write_text(BOX_TEST)
    asked: list[str] = []

    def answer(call: RecordedCall) -> Answer:
        asked.append(call.prompt)
        wrong = BOX[BOX.index("class Box") :].replace("pass", "self.room = 1")
        return Answer(f"```python\n{wrong}```" if call.body.get("max_tokens", 0) > 32 else "yes")

    async with ScriptedServer(answer) as server:
        task = "Implement box.py so that the tests in test_box.py pass."
        finished, heard, _ = await play(root, server, task, sections={"orchestrator": NO_SEARCH})
    assert finished.status == "partial"
    assert any("Full is written by facts" in one.text for one in of(heard, ev.Notice))
    assert any("Write Box" in prompt for prompt in asked)
    assert not any("Write Full" in prompt for prompt in asked)


SLUG = '''def slug(title):
    """Words of letters and digits, joined by dashes."""
    return "-".join(w for w in title.lower().split() if w.isalpha())


def short(text, most):
    """At most so many characters."""
    return text[:most]
'''


async def test_a_repair_that_is_done_changes_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    (root / "slug.py").write_text(SLUG)
    (root / "test_slug.py").write_text("from slug import slug\n\n\ndef test_it():\n    assert slug('A 1') == 'a-1'\n")

    def answer(call: RecordedCall) -> Answer:
        if call.body.get("max_tokens", 0) <= 32:
            return Answer("yes")
        if "Write the new version of slug" in call.prompt:
            return Answer("```python\n" + SLUG.split("\n\n\n")[0].replace("isalpha", "isalnum") + "\n```")
        if "Write the new version of short" in call.prompt:
            return Answer('```python\ndef short(text, most):\n    return text[: most - 1] + "…"\n```')
        return Answer("Keep digits.")

    async with ScriptedServer(answer) as server:
        task = "slug drops digits from titles. It should keep them."
        finished, heard, _ = await play(root, server, task, sections={"orchestrator": NO_SEARCH})
    assert finished.status == "complete", finished.reason
    plan = of(heard, ev.PlanMade)[0]
    assert (plan.how, [step.target_symbols for step in plan.steps]) == ("facts", [("slug", "short")])
    [diff] = of(heard, ev.DiffReady)
    assert "isalnum" in diff.diff and "most - 1" not in diff.diff
