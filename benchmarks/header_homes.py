"""Check the header table's further homes against the C libraries installed here: ``python -m benchmarks.header_homes``.

Every pair of the ``[also]`` section of ``agent/c/header_data.toml`` (a name, a header that is not its first home) is
compiled: the header alone must declare the name, a struct with its members. A pair that does not hold on a system, although
the name's first home does, is printed; the exit code is 1 when there is one. Compilers: those given, else gcc, clang and
musl-gcc. Run it on macOS and the BSDs as well.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from agent.c.headers import Home, header_table

_FEATURES = ("-D_GNU_SOURCE", "-D_DARWIN_C_SOURCE", "-D__BSD_VISIBLE=1", "-D_NETBSD_SOURCE")


def further_homes() -> dict[str, list[tuple[str, Home]]]:
    """The names and homes to check, by header: all but the first home of each name."""
    table = header_table()
    found: dict[str, list[tuple[str, Home]]] = defaultdict(list)
    for header, names in table.names_of.items():
        for name in sorted(names):
            home = next((h for h in table.homes(name) if h.header == header), None)
            if home is not None and home.rank > 0:
                found[header].append((name, home))
    return found


def use_of(name: str, kind: str, number: int) -> str:
    """A line of C that compiles only where ``name`` is declared."""
    if name.startswith("struct "):
        return f"char use{number}[sizeof({name})];"
    if kind == "type":
        return f"extern {name} *use{number};"
    plain = f"void *use{number}(void) {{ return (void *)&{name}; }}"
    return f"#ifndef {name}\n{plain}\n#endif"


def lacking(compiler: str, header: str, names: list[tuple[str, Home]]) -> list[str]:
    """The names that ``header`` by itself does not declare for this compiler."""
    bad = []
    with tempfile.TemporaryDirectory(prefix="cra-homes-") as folder:
        for number, (name, home) in enumerate(names):
            source = Path(folder, f"{number}.c")
            source.write_text(f"#include <{header}>\n{use_of(name, home.kind, number)}\n", encoding="utf-8")
            if not _compiles(compiler, source) and _compiles(compiler, _with_first_home(source, name, home, number)):
                bad.append(name)
    return bad


def _with_first_home(source: Path, name: str, home: Home, number: int) -> Path:
    """The same use with the name's first home: a name that this C library lacks says nothing about the table."""
    first = header_table().homes(name)[0]
    source.write_text(f"#include <{first.header}>\n{use_of(name, home.kind, number)}\n", encoding="utf-8")
    return source


def _compiles(compiler: str, source: Path) -> bool:
    command = [compiler, "-std=gnu11", "-w", *_FEATURES, "-fsyntax-only", source.name]
    return subprocess.run(command, cwd=source.parent, capture_output=True, check=False).returncode == 0


def main() -> int:
    """Print the pairs that do not hold. 0 when all do, 1 when some do not, 2 when there is no compiler."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=["gcc", "clang", "musl-gcc"])
    compilers = [c for c in parser.parse_args().compilers if shutil.which(c)]
    if not compilers:
        print("None of these compilers is installed.", file=sys.stderr)
        return 2
    pairs, wrong = further_homes(), 0
    for compiler in compilers:
        for header, names in pairs.items():
            for name in lacking(compiler, header, names):
                wrong += 1
                print(f"{compiler}: <{header}> does not declare {name}")
    total = sum(map(len, pairs.values()))
    print(f"{total} pairs, {len(compilers)} compilers ({', '.join(compilers)}): {wrong} do not hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
