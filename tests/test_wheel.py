"""An installed copy is whole: the wheel holds every file of the product, data included, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SHIPPED = ("agent", "screens", "tui", "styles", "demo_repos")


def test_the_wheel_holds_what_the_repository_holds(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("cra-*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    listed = subprocess.run(["git", "ls-files", "-z", *SHIPPED], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert packed == {name for name in listed.split("\0") if name and (ROOT / name).is_file()}
    data = {Path(name).suffix for name in packed} - {".py"}
    assert {".tcss", ".toml", ".md", ".c", ".h"} <= data, "style sheets, tables, cards of knowledge and demos are data"
