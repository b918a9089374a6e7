"""Check the header table's further homes against the C libraries installed here: ``python -m benchmarks.header_homes``.

Every pair of the ``[also]`` section of ``agent/c/header_data.toml`` (a name, a header that is not its first home) is
compiled: the header alone must declare the name, a struct with its members. A pair that does not hold on a system, although
the name's first home does, and is no known gap of it (``benchmarks/data/header_gaps.toml``), is printed; the exit code is 1
when there is one. Compilers: those given, each a command, else
gcc, clang and musl-gcc. The package ``ziglang`` brings the headers of macOS and the BSDs to any machine::

    python -m benchmarks.header_homes "zig cc -target x86_64-macos" "zig cc -target x86_64-freebsd"
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
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
    command = [*shlex.split(compiler), "-std=gnu11", "-w", *_FEATURES, "-c", source.name, "-o", "home.o"]
    return subprocess.run(command, cwd=source.parent, capture_output=True, check=False).returncode == 0


_SYSTEMS = {"__APPLE__": "macos", "__FreeBSD__": "freebsd", "__NetBSD__": "netbsd", "__OpenBSD__": "openbsd"}
_GAPS = tomllib.loads(Path(__file__).with_name("data").joinpath("header_gaps.toml").read_text("utf-8"))


def known_gaps(compiler: str) -> dict[str, list[str]]:
    """The names that the system of this compiler is known not to have in a further home, by header."""
    command = [*shlex.split(compiler), "-dM", "-E", "-x", "c", os.devnull]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return next((_GAPS[system] for macro, system in _SYSTEMS.items() if f"#define {macro} " in said), {})


def _works(compiler: str) -> bool:
    """Whether it compiles what every system has: else nothing would be found out about any pair."""
    with tempfile.TemporaryDirectory(prefix="cra-homes-") as folder:
        source = Path(folder, "any.c")
        source.write_text("#include <stdio.h>\nextern size_t *use;\n", encoding="utf-8")
        return _compiles(compiler, source)


def main() -> int:
    """Print the pairs that do not hold. 0 when all do, 1 when some do not, 2 when there is no compiler."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compilers", nargs="*", default=["gcc", "clang", "musl-gcc"])
    compilers = [c for c in parser.parse_args().compilers if shutil.which(shlex.split(c)[0]) and _works(c)]
    if not compilers:
        print("None of these compilers is installed and compiles anything.", file=sys.stderr)
        return 2
    pairs, wrong, known = further_homes(), 0, 0
    for compiler in compilers:
        gaps = known_gaps(compiler)
        for header, names in pairs.items():
            missing = lacking(compiler, header, names)
            new = [name for name in missing if name not in gaps.get(header, ())]
            known, wrong = known + len(missing) - len(new), wrong + len(new)
            for name in new:
                print(f"{compiler}: <{header}> does not declare {name}")
    total = sum(map(len, pairs.values()))
    print(f"{total} pairs, {len(compilers)} compilers ({', '.join(compilers)}): {wrong} do not hold, {known} known gaps")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
