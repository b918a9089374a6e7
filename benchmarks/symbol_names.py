"""Names of symbols beside Universal Ctags: ``python -m benchmarks.symbol_names FOLDER... [--show 20]``.

For each folder: how many names of each kind ctags finds in its C and Python files, how many of them the index's readers find
in the same file, and how many they find that ctags does not. ``--show`` lists the first names of either sort.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections import defaultdict
from pathlib import Path

from agent.languages import parse_file, reader_of

_GROUPS = {
    "function": "functions", "method": "functions", "member": "functions", "prototype": "prototypes", "class": "types",
    "struct": "types", "union": "types", "enum": "types", "typedef": "types", "enumerator": "enumerators", "macro": "macros",
    "variable": "variables", "externvar": "variables", "global": "variables", "constant": "variables",
    "property": "functions",
}  # fmt: skip

Names = dict[str, set[tuple[str, str]]]
"""Kind to (path, name)."""


def by_ctags(root: Path, files: list[str]) -> Names:
    """What ctags finds at the top level of files, classes and structs. Names that it makes up are left out."""
    done = subprocess.run(
        ["ctags", "--output-format=json", "--fields=+zK", "--languages=C,Python", "--langmap=C:.c.h", "--kinds-C=+px",
         "--kinds-Python=cfmv", "-L", "-", "-f", "-"],
        cwd=root, input="\n".join(files), capture_output=True, text=True, check=True, errors="replace",
    )  # fmt: skip
    found: Names = defaultdict(set)
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        python = tag["path"].endswith(".py")
        local = python and tag.get("scopeKind") in ("function", "member", "method")
        field = (tag["kind"] == "member" and not python) or (python and tag["kind"] == "variable" and "scope" in tag)
        group = _GROUPS.get(tag["kind"])
        if group and not local and not field and not tag["name"].startswith("__anon"):
            found[group].add((tag["path"], tag["name"]))
    return found


def by_index(root: Path, files: list[str]) -> Names:
    """What the index's readers find in the same files."""
    found: Names = defaultdict(set)
    for path in files:
        for symbol in parse_file(path, (root / path).read_bytes()).symbols:
            group = _GROUPS[symbol.kind]
            if not (path.endswith(".py") and group == "variables" and symbol.parent):
                found[group].add((path, symbol.name))
    return found


def main() -> None:
    """Prints one table a folder."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", nargs="+", type=Path)
    arguments.add_argument("--show", type=int, default=0, metavar="N")
    options = arguments.parse_args()
    for root in options.folders:
        files = sorted(
            os.path.relpath(os.path.join(folder, name), root)
            for folder, _, names in os.walk(root)
            for name in names
            if reader_of(name) is not None and os.path.isfile(os.path.join(folder, name))
        )
        theirs, ours = by_ctags(root, files), by_index(root, files)
        print(f"\n{root.name}: {len(files)} files\n{'kind':<12}{'ctags':>8}{'found':>8}{'share':>8}{'more':>8}")
        for group in dict.fromkeys(_GROUPS.values()):
            all_, mine = theirs[group], ours[group]
            if not all_ and not mine:
                continue
            share = f"{len(all_ & mine) / len(all_):.4f}" if all_ else "-"
            print(f"{group:<12}{len(all_):>8}{len(all_ & mine):>8}{share:>8}{len(mine - all_):>8}")
            for sign, rest in (("-", all_ - mine), ("+", mine - all_)):
                for path, name in sorted(rest)[: options.show]:
                    print(f"    {sign} {name}  {path}")


if __name__ == "__main__":
    main()
