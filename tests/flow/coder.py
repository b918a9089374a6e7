"""A scripted model that can code: it answers a request for a function with that function of a known solution."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agent.c.symbols.reader import parse
from agent.workspace.demo import create_demo
from agent.workspace.git import run_git
from tests.fakes.script import Answer, RecordedCall

SOLUTIONS = Path(__file__).parents[1] / "demo_repos" / "solutions"


def functions_of(source: bytes) -> dict[str, str]:
    """Name to text of every function defined in a C source."""
    return {
        symbol.name: source[symbol.start : symbol.end].decode()
        for symbol in parse(source).symbols
        if symbol.kind == "function"
    }


def small_ring(place: Path, left: Sequence[str] = ("ring_push", "ring_pop", "ring_max")) -> Path:
    """The ring buffer with all written but ``left``: a whole run on it costs a third, and takes the same way."""
    repo = create_demo("ring_buffer", place)
    solution = (SOLUTIONS / "ring_buffer.c").read_bytes()
    stubs, written = functions_of((repo / "ring_buffer.c").read_bytes()), functions_of(solution)
    text = (repo / "ring_buffer.c").read_text()
    for name, stub in stubs.items():
        if name not in left:
            text = text.replace(stub, written[name])
    includes = re.findall(r"^#include <.*>\n", solution.decode(), re.M)
    (repo / "ring_buffer.c").write_text("".join(includes) + text)
    run_git(repo, "commit", "-q", "-a", "-m", "Most of it")
    return repo


TABLE_TESTS = """#include <assert.h>
#include "../src/hash_table.h"

static void test_insert_and_lookup(void)
{
    hash_table *table = hash_table_create(4);
    int value = 0;
    assert(hash_table_insert(table, "one", 1));
    assert(hash_table_lookup(table, "one", &value) && value == 1);
    hash_table_destroy(table);
}

static void test_delete(void)
{
    hash_table *table = hash_table_create(4);
    hash_table_insert(table, "one", 1);
    assert(hash_table_delete(table, "one"));
    assert(hash_table_count(table) == 0);
    hash_table_destroy(table);
}

int main(void)
{
    test_insert_and_lookup();
    test_delete();
    return 0;
}
"""


def wants_tests(call: RecordedCall) -> bool:
    """Whether a file of tests is asked for."""
    return "small test program" in call.system or "small pytest file" in call.system or "of unittest tests" in call.system


class Coder:
    """Says yes to every judgment and writes functions from ``solution``; ``first`` gives a first reply by function name."""

    def __init__(self, solution: bytes, first: dict[str, str] | None = None, verdicts: dict[str, str] | None = None) -> None:
        self.functions = functions_of(solution)
        self.helpers = [text for text in self.functions.values() if text.startswith("static")]
        self.first = dict(first or {})
        self.verdicts = verdicts or {}
        self.asked: list[str] = []

    def __call__(self, call: RecordedCall) -> Answer:
        if call.body.get("max_tokens", 0) <= 16:
            return Answer(next((word for needle, word in self.verdicts.items() if needle in call.prompt), "yes"))
        name = self._wanted(call.prompt)
        if not name:
            return Answer("Implement the ring buffer.")
        self.asked.append(name)
        text = self.first.pop(name, None) or "\n\n".join([*self.helpers, self.functions[name]])
        return Answer(f"```c\n{text}\n```")

    def _wanted(self, prompt: str) -> str:
        found = re.findall(r"Write the function (\w+)", prompt)
        return found[-1] if found else ""


class Scaffolder(Coder):
    """Also lays the headers of a known interface, for a project that begins with none."""

    def __init__(self, solution: bytes, header: bytes, tests: Sequence[str] = (TABLE_TESTS,)) -> None:
        super().__init__(solution)
        self.header = header.decode()
        self.tests = list(tests)
        self.types = re.findall(r"^(?:typedef )?struct \w+ \{.*?^\}[^;]*;", solution.decode(), re.M | re.S)

    def __call__(self, call: RecordedCall) -> Answer:
        """Headers, struct definitions and tests (in turn, the last again and again); the rest as :class:`Coder`."""
        if wants_tests(call):
            self.asked.append("tests")
            return Answer(f"```c\n{self.tests.pop(0) if len(self.tests) > 1 else self.tests[0]}\n```")
        if call.body.get("max_tokens", 0) > 16:
            if "header" in call.system.lower() and "Write the function" not in call.prompt:
                return Answer(f"```c\n{self.header}\n```")
            if "data structure" in call.system:
                return Answer("```c\n" + "\n\n".join(self.types) + "\n```")
        return super().__call__(call)
