"""Whole recoveries on small real folders: ``python -m benchmarks.recoveries ROWS.jsonl [--only ID] [--show]``.

A row has ``files`` (path to text), ``prep`` (a shell command before), ``path`` (what is compiled), ``flags`` (extra
flags), ``check`` (a shell command that must exit 0 afterwards) and may have ``compiler``, ``link``, ``need_context`` and
``forbid_context`` (what the retry prompt must and must not say; ``NEEDS:x`` stands for "x must be defined first").
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from agent.compiling.build import Build
from agent.compiling.compiler import Compiler
from agent.compiling.curing.recovery import Recovery
from agent.events import Event


class RecoveryOutcome(NamedTuple):
    """How one row went: ``right`` when its check passed and the words fit; ``why`` says what was wrong."""

    right: bool
    why: str
    said: str
    events: tuple[Event, ...]


def recover(row: dict[str, Any], root: Path) -> RecoveryOutcome:
    """Write a row's files into ``root``, recover its file, and run its check."""
    for name, text in row["files"].items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if row.get("prep"):
        subprocess.run(["sh", "-c", row["prep"]], cwd=root, check=True, capture_output=True)
    events: list[Event] = []
    said = asyncio.run(_recovered(row, root, events))
    checked = subprocess.run(["sh", "-c", row["check"]], cwd=root, check=False, capture_output=True, text=True)
    why = []
    if checked.returncode:
        why.append(f"check: {(checked.stdout + checked.stderr).strip()[:600]}")
    if row.get("need_context") and row["need_context"] not in said:
        why.append(f"not said: {row['need_context']}")
    if row.get("forbid_context") and row["forbid_context"] in said:
        why.append(f"said: {row['forbid_context']}")
    return RecoveryOutcome(not why, "; ".join(why), said, tuple(events))


async def _recovered(row: dict[str, Any], root: Path, events: list[Event]) -> str:
    """What the recovery has to say for the retry prompt."""
    compiler = Compiler.find(row["compiler"]) if row.get("compiler") else None
    build = Build(root, compiler=compiler, extra_flags=row.get("flags") or (), emit=events.append)
    try:
        recovery = Recovery(build, decomposed=True)
        done = await recovery.compile(row["path"], row.get("symbol", ""))
        said = f"NEEDS:{done.needs} {done.context}"
        if row.get("link"):
            linked = await recovery.link([row["path"]])
            said += f"\n{linked.context}"
    finally:
        build.close()
    return said


def main() -> None:
    """Recover each row of the files in a folder of its own and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--only", help="the id of one row")
    parser.add_argument("--show", action="store_true", help="print what was said and the files as they are afterwards")
    options = parser.parse_args()
    rows = [json.loads(line) for file in options.rows for line in file.read_text("utf-8").splitlines() if line.strip()]
    rows = [row for row in rows if options.only in (None, row["id"])]
    right = 0
    for row in rows:
        with tempfile.TemporaryDirectory(prefix="cra-recoveries-") as folder:
            outcome = recover(row, Path(folder))
            right += outcome.right
            print(f"{row['id']:6s} {row.get('kind', ''):24s} {'right' if outcome.right else 'WRONG: ' + outcome.why}")
            if options.show:
                print(outcome.said)
                for name in row["files"]:
                    print(f"--- {name}\n{(Path(folder) / name).read_text('utf-8')[:2000]}")
    print(f"{right} of {len(rows)} recoveries right")


if __name__ == "__main__":
    main()
