"""A task that names a function which nobody has yet, in a project that is there."""

import subprocess
from pathlib import Path

import pytest

from agent import events as ev
from tests.fakes.script import Answer, RecordedCall
from tests.fakes.server import ScriptedServer
from tests.flow.test_run import of, play

HEADER = """#pragma once

typedef struct node { int value; struct node *next; } node_t;

/* How many nodes there are. */
int list_count(const node_t *list);
"""
SOURCE = """#include "list.h"

int list_count(const node_t *list)
{
    int n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}
"""
MODULE = '''class Store:
    """Names that are taken."""

    def __init__(self):
        self.taken = set()

    def claim(self, name):
        """Take a name."""
        self.taken.add(name)


def plain(text):
    """Lower-case."""
    return text.lower()
'''


def project(root: Path, contents: dict[str, str]) -> Path:
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def answers(call: RecordedCall) -> Answer:
    if call.body.get("max_tokens", 0) <= 32:
        return Answer("yes")
    asked = call.prompt.rsplit("\n\n", 1)[-1]
    if "Write the declaration of list_last" in asked:
        comment = "/* The last node, NULL when there is none. */"
        return Answer(f"```c\n{comment}\nnode_t *list_last(node_t *list);\nint other(void);\n```")
    if "Write the function list_last" in call.prompt:
        body = "    while (list && list->next)\n        list = list->next;\n    return list;"
        return Answer(f"```c\nnode_t *list_last(node_t *list)\n{{\n{body}\n}}\n```")
    if "Write the function list_sum" in call.prompt:
        body = "    return list ? list->value + list_sum(list->next) : 0;"
        return Answer(f"```c\nlong list_sum(const node_t *list)\n{{\n{body}\n}}\n```")
    if "Store.release" in asked:
        return Answer('```python\ndef release(self, name):\n    """Free a name."""\n    self.taken.discard(name)\n```')
    if "shout" in asked:
        return Answer('```python\ndef shout(text):\n    """Upper-case."""\n    return text.upper()\n```')
    return Answer("Add it.")


OFF = {"coding": {"interface_tests": False}}


async def test_a_c_function_is_declared_stubbed_and_written_with_nothing_else_changed(tmp_path: Path) -> None:
    root = project(tmp_path / "r", {"include/list.h": HEADER, "src/list.c": SOURCE})
    task = "Add a function list_last that returns the last node. Declare it in list.h."
    async with ScriptedServer(answers) as server:
        finished, heard, _ = await play(root, server, task, sections=OFF, apply_when_complete=True)
    assert finished.status == "complete", finished.reason
    plan = of(heard, ev.PlanMade)[0]
    assert plan.how == "facts" and [step.kind for step in plan.steps] == ["scaffold"]
    assert (root / "include/list.h").read_text() == HEADER + (
        "\n/* The last node, NULL when there is none. */\nnode_t *list_last(node_t *list);\n"
    )
    written = (root / "src/list.c").read_text()
    assert written.startswith(SOURCE) and "node_t *list_last(node_t *list)" in written
    subprocess.run(["gcc", "-Werror", "-Iinclude", "-c", "src/list.c", "-o", str(tmp_path / "o")], cwd=root, check=True)


async def test_a_declaration_in_the_task_is_taken_as_it_stands(tmp_path: Path) -> None:
    root = project(tmp_path / "r", {"list.h": HEADER, "list.c": SOURCE})
    task = "Add `long list_sum(const node_t *list)` to list.c. It returns the sum of all values, 0 for an empty list."
    async with ScriptedServer(answers) as server:
        finished, _, state = await play(root, server, task, sections=OFF, apply_when_complete=True)
    assert finished.status == "complete", finished.reason
    assert (root / "list.h").read_text() == HEADER + (
        "\n/* Returns the sum of all values, 0 for an empty list. */\nlong list_sum(const node_t *list);\n"
    )
    assert not any(call.stage == "header_gen" for call in state.calls)


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("Add a method `release` to Store that frees a name.", "    def release(self, name):\n"),
        ("Add a function shout_it to store.py.", ""),
        ("Add a function called shout to store.py.", "\n\n\ndef shout(text):\n"),
    ],
)
async def test_python_gets_it_where_the_task_says(tmp_path: Path, task: str, text: str) -> None:
    root = project(tmp_path / "r", {"store.py": MODULE})
    async with ScriptedServer(answers) as server:
        finished, _, _ = await play(root, server, task, sections=OFF, apply_when_complete=True)
    now = (root / "store.py").read_text()
    if text:
        assert finished.status == "complete" and text in now, finished.reason
        assert set(MODULE.splitlines()) <= set(now.splitlines())
    else:  # the replies never define it
        assert finished.status == "failed" and now == MODULE


CALLS_IT = """#include <assert.h>
#include "../include/list.h"
static void test_one(void) { node_t one = {1, 0}; assert(list_last(&one) == &one); }
int main(void) { test_one(); return 0; }
"""


async def test_what_is_added_is_what_is_tested(tmp_path: Path) -> None:
    here = {"include/list.h": HEADER, "src/list.c": SOURCE, "tests/test_list.c": "int main(void) { return 0; }\n"}
    root = project(tmp_path / "r", here)
    calls_another = CALLS_IT.replace("list_last(&one) == &one", "list_count(&one) == 1")
    asked: list[str] = []

    def answer(call: RecordedCall) -> Answer:
        if "test program" not in call.system:
            return answers(call)
        asked.append(call.prompt)
        return Answer(f"```c\n{calls_another if len(asked) == 1 else CALLS_IT}\n```")

    async with ScriptedServer(answer) as server:
        finished, _, _ = await play(root, server, "Add a function list_last to list.h.", apply_when_complete=True)
    assert finished.status == "complete", finished.reason
    assert "Test list_last, as include/list.h promises." in asked[0]
    assert "It uses nothing of what is to be tested: list_last." in asked[1]
    [written] = [path for path in (root / "tests").iterdir() if path.name != "test_list.c"]
    assert written.read_text().strip() == CALLS_IT.strip()
