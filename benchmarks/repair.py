"""Bug tasks given to ``cra run`` and scored by tests that it did not see: what mends them, how fast, and how often what
passes the visible tests is wrong.

usage: python -m benchmarks.repair TASKS [--no-model] [--before] [--only NAME ...] [--limit SECONDS] [--save FILE]

TASKS holds a folder a task: ``repo/`` (what the run gets), ``task.txt``, ``meta.json`` (``test``: the command) and
``hidden/`` (the tests that score, laid over a copy). ``--before`` switches the search off, so that a model writes functions
anew as it did before there was one. A task that the file of ``--save`` holds already is not run again.

A row tells what the chosen edit comes from: an operator, two edits combined, a line filled in (cloze), a function written
anew by the search, or the run's own steps after the search.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_IGNORED = shutil.ignore_patterns(".git", ".clean_room", "__pycache__", ".pytest_cache", "*.o")
_SCORING_SECONDS = 120


def passes(task: Path, repo: Path, command: str, diff: str = "") -> bool:
    """Whether the hidden tests pass over a copy of ``repo``, with a diff applied to it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "repo"
        shutil.copytree(repo, copy, ignore=_IGNORED)
        if diff and subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=copy, capture_output=True).returncode:
            return False
        shutil.copytree(task / "hidden", copy, dirs_exist_ok=True)
        try:
            done = subprocess.run(command, shell=True, cwd=copy, capture_output=True, timeout=_SCORING_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def play(task: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One task from a fresh copy to its score."""
    command = json.loads((task / "meta.json").read_text())["test"]
    text = (task / "task.txt").read_text().strip()
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "repo"
        shutil.copytree(task / "repo", repo)
        for words in (
            ["init", "-q"],
            ["add", "-A"],
            ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm", "start"],
        ):
            subprocess.run(["git", *words], cwd=repo, check=True)
        line = [sys.executable, "-m", "tui", "run", text, "--repo", str(repo), "--test-command", command]
        line += ["--json", "--apply", "--trust", *(["--no-model"] if options.no_model else [])]
        line += ["--set", "orchestrator.decomposed_repair=false"] if options.before else []
        began = time.monotonic()
        try:
            done = subprocess.run(line, cwd=_ROOT, capture_output=True, text=True, timeout=options.limit)
            output = done.stdout
        except subprocess.TimeoutExpired as error:
            output = (error.stdout or b"").decode("utf-8", "replace")
        seconds = time.monotonic() - began
        events = [row.get("event", row) for row in map(_decoded, output.splitlines()) if row]
        return _row(task, command, events, seconds, passes(task, repo, command))


def _decoded(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _row(task: Path, command: str, events: list[dict[str, Any]], seconds: float, solved: bool) -> dict[str, Any]:
    def of(kind: str) -> list[dict[str, Any]]:
        return [event for event in events if event.get("type") == kind]

    finished = (of("RunFinished") or [{}])[-1]
    tried = (of("CandidatesTried") or [{}])[-1]
    passed = of("CandidatePassed")
    chosen = (of("RepairChosen") or [{}])[-1].get("number", 0)
    steps = "steps" if finished.get("status") == "complete" else ""
    by = next((one["source"] for one in passed if one["number"] == chosen), steps)
    right = solved or any(passes(task, task / "repo", command, one["diff"]) for one in passed)
    return {
        "task": task.name, "solved": solved, "by": by, "seconds": round(seconds, 1), "calls": finished.get("calls", 0),
        "status": finished.get("status", "broken off"), "tried": tried.get("tried", 0), "passing": len(passed),
        "right_among": bool(passed) and right, "wrong_but_passing": bool(by) and not solved,
    }  # fmt: skip


def main() -> None:
    """Run the tasks and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--no-model", action="store_true", help="operators only")
    parser.add_argument("--before", action="store_true", help="without the search")
    parser.add_argument("--only", nargs="+", default=[], help="names or globs of tasks")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one task")
    parser.add_argument("--save", type=Path, help="rows as JSON")
    options = parser.parse_args()
    folders = sorted(path.parent for path in options.tasks.resolve().glob("*/meta.json"))
    kept = {row["task"]: row for row in _saved(options.save)}
    rows = []
    for task in folders:
        if options.only and not any(fnmatch.fnmatch(task.name, name) for name in options.only):
            continue
        row = kept.get(task.name) or play(task, options)
        rows.append(row)
        kept[task.name] = row
        print(_line(row), flush=True)
        if options.save:
            options.save.write_text(json.dumps(list(kept.values()), indent=1) + "\n")
    if not rows:
        parser.error("there is no such task")
    _summary(rows)


def _saved(file: Path | None) -> list[dict[str, Any]]:
    return json.loads(file.read_text()) if file is not None and file.exists() else []


def _line(row: dict[str, Any]) -> str:
    outcome = "solved" if row["solved"] else "wrong" if row["wrong_but_passing"] else "no"
    missed = ", a right one among them" if outcome == "wrong" and row["right_among"] else ""
    return (f"{row['task']:30} {outcome:7} {row['by']:9} {row['seconds']:6.1f} s {row['calls']:3} calls "
            f"{row['tried']:5} tried {row['passing']:3} passing{missed}")  # fmt: skip


def _summary(rows: list[dict[str, Any]]) -> None:
    seconds, calls = (statistics.median(row[name] for row in rows) for name in ("seconds", "calls"))
    print(f"\nsolved {sum(row['solved'] for row in rows)} of {len(rows)}; median {seconds:.0f} s, {calls:.0f} calls")
    for source in ("operator", "combined", "cloze", "anew", "steps"):
        chosen = [row for row in rows if row["by"] == source]
        print(f"  {source:9} {sum(row['solved'] for row in chosen)} of {len(chosen)} right")
    wrong = [row for row in rows if row["wrong_but_passing"]]
    missed = sum(row["right_among"] for row in wrong)
    print(f"  {len(wrong)} passed the visible tests and are wrong; of these {missed} had a right edit among the candidates")


if __name__ == "__main__":
    main()
