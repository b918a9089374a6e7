# ruff: noqa: SIM905
"""How fast the index is: files a second cold and warm, and the refresh of one edited file.

    python benchmarks/index_speed.py [REPOSITORY] [--files 5000]

Without a repository one is generated (half C, half Python, with headers and imports). Its index is kept in a temporary
folder; the repository is only read. Prints a table and the ratio of warm to cold.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent.index import Index
from agent.workspace.git import git_environment

_WORDS = (
    "ring buffer token budget parse queue socket reply client cache table hash node list tree file path read write".split()
)


def generate(root: Path, files: int) -> None:
    """A repository of ``files`` files of 60 to 200 lines that include, import and call each other."""
    rng = random.Random(7)
    for number in range(files // 2):
        name = f"{rng.choice(_WORDS)}_{number}"
        other = rng.randrange(max(1, number))
        folder = root / "src" / f"part{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        functions = "\n".join(
            f"/* Handles the {rng.choice(_WORDS)} of {rng.choice(_WORDS)}. */\nint {name}_f{i}(int a)\n"
            "{\n    int total = a;\n"
            f"    for (int i = 0; i < a; i++)\n        total += {name}_f{max(0, i - 1)}(i);\n    return total;\n}}\n"
            for i in range(rng.randrange(7, 22))
        )
        (folder / f"m{number}.c").write_text(f'#include <stdio.h>\n#include "../part{other % 40}/m{other}.h"\n\n{functions}')
        if number % 2:
            (folder / f"m{number}.h").write_text(
                f"#ifndef M{number}_H\n#define M{number}_H\nint {name}_f0(int a);\n#endif\n"
            )
    for number in range(files - files // 2 - files // 4):
        folder = root / "pkg" / f"sub{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
        other = rng.randrange(max(1, number))
        body = "\n\n".join(
            f"def {rng.choice(_WORDS)}_{i}(value):\n"
            f'    """Returns the {rng.choice(_WORDS)}."""\n    return work(value) + {i}\n'
            for i in range(rng.randrange(10, 30))
        )
        source = (
            f'"""The {rng.choice(_WORDS)} module."""\n\nfrom pkg.sub{other % 40}.m{other} import work as inherited\n\n\n'
        )
        (folder / f"m{number}.py").write_text(f"{source}def work(value):\n    return inherited(value)\n\n\n{body}")
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-q", "-m", "generated"]):
        subprocess.run(["git", *command], cwd=root, check=True, env=git_environment())


def measure(root: Path, folder: Path) -> None:
    """Prints the table for one repository."""
    index = Index.open(root, db_path=folder / "index.sqlite")
    began, before = time.perf_counter(), os.times()
    report = index.refresh()
    cold, after = time.perf_counter() - began, os.times()
    processor = sum(after[:4]) - sum(before[:4])
    warm = []
    for _ in range(3):
        began = time.perf_counter()
        index.refresh()
        warm.append(time.perf_counter() - began)
    lines = sum(entry.lines for entry in index.files())
    size = (folder / "index.sqlite").stat().st_size
    print(f"{root.name}: {report.files} files, {lines} lines, {report.symbols} symbols, database {size / 1e6:.1f} MB")
    print(f"{'':24}{'ms':>10}{'files/s':>12}{'lines/s':>12}")
    for label, seconds in (("cold", cold), ("warm, nothing changed", statistics.median(warm))):
        print(f"{label:24}{seconds * 1000:10.0f}{report.files / seconds:12.0f}{lines / seconds:12.0f}")
    print(f"{'cold, processor time':24}{processor * 1000:10.0f}")
    queries = []
    for query in ("the ring buffer drops the last token when it is full", "read the reply from a client socket"):
        began = time.perf_counter()
        index.rankings(query)
        queries.append(time.perf_counter() - began)
    print(f"{'a search':24}{statistics.median(queries) * 1000:10.0f}")
    _beside_ctags(root, size, sum(entry.size for entry in index.files() if entry.language in ("c", "python")))
    print(f"ratio warm : cold = {cold / statistics.median(warm):.0f} times faster")
    index.close()


def _beside_ctags(root: Path, size: int, source: int) -> None:
    """Universal Ctags on the same files, which keeps names alone: no references, no words, no history."""
    print(f"database {size / max(1, source):.2f} times the C and Python source ({source / 1e6:.1f} MB)")
    program = shutil.which("ctags")
    if program is None:
        print("ctags is not installed")
        return
    began = time.perf_counter()
    subprocess.run([program, "-R", "-f", os.devnull, str(root)], capture_output=True)  # 1 where a file is odd to it
    print(f"{'ctags -R':24}{(time.perf_counter() - began) * 1000:10.0f}")


def measure_edit(root: Path, folder: Path) -> None:
    """Prints the median time to take in one edited file; only for a generated repository, which may be written."""
    index = Index.open(root, db_path=folder / "index.sqlite")
    index.refresh()
    path = "src/part1/m1.c"
    source = (root / path).read_text()
    times = []
    for turn in range(9):
        (root / path).write_text(f"{source}\nint edited_{turn}(void) {{ return {turn}; }}\n")
        began = time.perf_counter()
        index.refresh_files([path])
        times.append(time.perf_counter() - began)
    print(
        f"{'one edited file':24}{statistics.median(times) * 1000:10.1f}   (worst of {len(times)}: {max(times) * 1000:.1f})"
    )
    index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", nargs="?", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cra-bench-") as temporary:
        folder = Path(temporary)
        if options.repository:
            measure(options.repository.resolve(), folder)
            return
        root = folder / "generated"
        root.mkdir()
        generate(root, options.files)
        measure(root, folder)
        measure_edit(root, folder)


if __name__ == "__main__":
    main()
