"""Every measurement in small, one after the other: ``python -m benchmarks [NAME ...]``.

Each is a command of its own with sizes of its own (``python -m benchmarks.throughput --help``); none is a timed test. Those
that need clones of other repositories or a model are named with the command that runs them.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent

SMALL: dict[str, list[str]] = {
    "throughput": ["--items", "200", "--in-flight", "1,8,64", "--rounds", "1"],
    "cascade": ["--symbols", "60", "--in-flight", "8,64", "--rounds", "1"],
    "index_speed": ["--files", "400"],
    "learning": ["--draws", "3"],
    "stream": ["--calls", "20000", "--keys", "30"],
}
"""Measurement to arguments that take seconds."""

ELSEWHERE = {
    "retrieval": "python -m benchmarks.retrieval --commits FILE --clones DIR   (real changes, clones of their repositories)",
    "classifier": "python -m benchmarks.classifier CORPUS.jsonl   (recorded compiler failures with their gold)",
    "repair": "python -m benchmarks.repair TASKS   (bug tasks with hidden tests; with and without the model)",
    "pipelines": "python -m benchmarks.pipelines --save FILE   (decomposed and monolithic on the demos, with the model)",
}
"""Measurements that need more than this checkout, and how they are run."""

_PATIENCE = 300


def run(name: str) -> bool:
    """One measurement in a process of its own. Whether it ended well."""
    print(f"\n{name}\n{'=' * len(name)}", flush=True)
    began = time.perf_counter()
    command = [sys.executable, "-m", f"benchmarks.{name}", *SMALL[name]]
    try:
        code = subprocess.run(command, cwd=_ROOT, timeout=_PATIENCE, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"{name}: broken off after {_PATIENCE} s")
        return False
    print(f"({time.perf_counter() - began:.0f} s" + (f", exit code {code})" if code else ")"), flush=True)
    return code == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SMALL)} (default: all)")
    wanted = parser.parse_args().names or list(SMALL)
    unknown = [name for name in wanted if name not in SMALL]
    if unknown:
        parser.error(f"there is no measurement {unknown[0]!r} here; known: {', '.join(SMALL)}")
    results = [run(name) for name in wanted]
    there = {name: how for name, how in ELSEWHERE.items() if importlib.util.find_spec(f"benchmarks.{name}")}
    if there:
        print("\nNot run here, since they need more than this checkout:")
        for name, how in there.items():
            print(f"  {name:<12} {how}")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
