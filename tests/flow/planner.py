"""Scripted models that plan, lay headers and revise, for tasks that facts alone do not settle."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.fakes.script import Answer, RecordedCall
from tests.flow.coder import Scaffolder

TABLE = ("src/hash_table.h", "src/hash_table.c")
REMAINING, CAN_FIT = "budget.py:BudgetTracker.remaining", "budget.py:BudgetTracker.can_fit"


class TablePlanner(Scaffolder):
    """Plans, scaffolds and writes a hash table that nothing in the repository spells out."""

    def __call__(self, call: RecordedCall) -> Answer:
        """JSON for planning calls; headers and functions as :class:`Scaffolder`."""
        if "Write the plan as" in call.prompt:
            return _json({"parts": [{"do": "Write the table", "targets": TABLE}]})
        if "List every place" in call.prompt:
            return _json({"points": [{"target": path, "change": "add", "why": f"write {path}"} for path in TABLE]})
        if "Cut it into steps" in call.prompt:
            return _json({"steps": [{"do": "Write the table", "targets": TABLE}]})
        if "Name the headers" in call.prompt:
            named = dict.fromkeys(re.findall(r"(hash_table_\w+)\(", self.header))
            return _json({"headers": [{"path": TABLE[0], "purpose": "a hash table", "types": ["hash_table"],
                                       "functions": [{"name": name, "does": "as it says"} for name in named]}]})  # fmt: skip
        if "Write the header files" in call.prompt:
            return Answer(f"FILE: {TABLE[0]}\n```c\n{self.header}\n```")
        return super().__call__(call)


def plans_two_changes(call: RecordedCall) -> Answer:
    """Plans two changes of the token budget: one that it cannot write, then the one that is needed."""
    prompt = call.prompt
    if call.body.get("max_tokens", 0) <= 16:
        return Answer("yes" if _fits(prompt) else "no")
    if "Write the plan as" in prompt:
        return _json({"parts": [{"do": f"Change {target}", "targets": [target]} for target in (REMAINING, CAN_FIT)]})
    if "List every place" in prompt:
        return _json({"points": [{"target": t, "change": "modify", "why": f"change {t}"} for t in (REMAINING, CAN_FIT)]})
    if rest := re.search(r"<remaining_steps>\n(.*?)\n</remaining_steps>", prompt, re.S):
        return _json({"revised_steps": json.loads(rest[1]), "rationale": "what is left is still right"})
    shown = re.findall(r"```python\n(.*?)```", prompt, re.S)
    if shown and "def can_fit" in shown[-1] and "def remaining" not in shown[-1]:
        return Answer(f"```python\n{shown[-1].replace('< self.remaining', '<= self.remaining')}```")
    return Answer("```python\ndef remaining(self\n```" if shown else "Let a text that fills the budget in.")


def bare_readme(repo: Path) -> None:
    """Take the interface out of the demo's README, so that a model has to design it."""
    (repo / "README.md").write_text("# hash_table\n\nA hash table in C. It still has to be written.\n", encoding="utf-8")


def _fits(prompt: str) -> bool:
    if "still valid" in prompt or "File:" in prompt:
        return True
    symbol = prompt.rpartition("Symbol:")[2] if "Symbol:" in prompt else ""
    return "budget.py" in symbol and ("can_fit" in symbol or "remaining" in symbol)


def _json(value: object) -> Answer:
    return Answer(json.dumps(value))
