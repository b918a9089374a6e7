"""Another language is one folder and one line: indexed, found, planned, written and checked like the others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINE = "    Python(),\n"
CALC = """# Doubles a number.
double() {
  echo TODO: not implemented
}

# Doubles it twice.
fourfold() {
  double $(double $1)
}
"""
CHECK = """. ./calc.toy
[ "$(double 4)" = 8 ] && echo "PASS: double" || { echo "FAIL: double"; exit 1; }
[ "$(fourfold 2)" = 8 ] && echo "PASS: fourfold" || { echo "FAIL: fourfold"; exit 1; }
"""


def engine_with_toy(place: Path) -> Path:
    """A copy of the engine with the toy's folder and its line."""
    shutil.copytree(ROOT / "agent", place / "agent", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests" / "language" / "toy", place / "agent" / "toy")
    table = place / "agent" / "languages.py"
    text = table.read_text(encoding="utf-8")
    assert text.count(LINE) == 1
    text = text.replace(LINE, LINE + '    __import__("agent.toy.language", fromlist=["Toy"]).Toy(),\n')
    table.write_text(text, encoding="utf-8")
    return place


def test_a_third_language_is_one_folder_and_one_line(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "calc.toy").write_text(CALC)
    (repo / "check.sh").write_text(CHECK)
    commit = "git init -q . && git add . && git -c user.name=n -c user.email=e@x commit -qm base"
    subprocess.run(commit, shell=True, cwd=repo, check=True)
    path = os.pathsep.join([str(engine_with_toy(tmp_path / "engine")), str(ROOT)])
    played = subprocess.run(
        [sys.executable, "-m", "tests.language.toy.play", str(repo)], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path}, timeout=120, check=False,
    )  # fmt: skip
    assert played.returncode == 0, played.stderr[-3000:]
    done = json.loads(played.stdout.splitlines()[-1])
    assert (done["language"], done["reader"]) == ("toy", "Toy")
    assert done["symbols"] == done["candidates"] == ["double", "fourfold"]
    assert done["found"] == ["calc.toy"] and done["callers"] == ["fourfold"]
    assert done["status"] == "complete", done["reason"]
    assert "echo $(($1 * 2))" in done["text"] and "TODO" not in done["text"]
