"""Which flags of a C compiler only say how C is read and translated.

All others are refused, since compilers can be told to load code and run programs (``-fplugin``, ``-fpass-plugin``, ``-B``
and its other name ``--prefix``, ``-specs``, ``-wrapper``, ``--config``, ``@file``), and to write files of any name
(``-fprofile-note=``, ``-fopt-info-all=``, ``-MF``): GCC manual, "Option Summary"; Clang command line argument reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HARMLESS = re.compile(
    r"""-(?:
        [IDULlF].* | O\w* | w | W(?![pal],)[\w+=#-]*
      | i(?:system|quote|dirafter|sysroot).* | include.* | imacros.* | -sysroot(?:=.*)?
      | -?std=[\w+:]+ | ansi | pedantic(?:-errors)? | pthread | pipe | undef | nostdinc | trigraphs | traditional(?:-cpp)?
      | c | o | s | p | pg | shared | static | rdynamic | no-?pie | pie | nostdlib | nodefaultlibs | nostartfiles
      | static-libgcc | Qunused-arguments | fsyntax-only
      | g(?!cc|split|en-)[\w+=-]*
      | m(?!llvm|linker)[\w.,+=-]*
      | fuse-ld=(?:bfd|gold|lld|mold)
      | f(?!plugin|pass-|use-ld|profile|dump|compare|callgraph|diagnostics|lto|opt-info|save-|optimization-record|proc-stat
          |crash|stack-usage|time-|test-coverage|modules?|index|thin|offload|openmp-targets|cuda|mem-report|stats|pch
          |integrated|no-integrated|xray|coverage|auto-profile)[\w+-]*(?:=[\w,:+-]*)?
      | x(?:c|c-header|cpp-output|none) | target | -target=[\w.-]+ | arch | -param(?:=[\w-]+=\d+)?
    )""",
    re.X,
)


def is_harmless(flag: str) -> bool:
    """Whether a word of a compiler's command line runs, loads and writes nothing, the object aside. A word that is no flag
    is a file or the value of a flag."""
    return not flag.startswith(("-", "@")) or _HARMLESS.fullmatch(flag) is not None


FOLDER_FLAGS = ("-iquote", "-I", "-isystem", "-idirafter")
"""Flags that add a folder to the search for headers, in the order of the search (GCC manual, "Directory Options")."""


def include_folders(arguments: Sequence[str]) -> list[str]:
    """The folders that a command line adds to the search for headers, as written, each once, in the order of the search."""
    found: dict[str, list[str]] = {flag: [] for flag in FOLDER_FLAGS}
    for word, following in zip(arguments, (*arguments[1:], ""), strict=False):
        flag = next((one for one in FOLDER_FLAGS if word.startswith(one)), "") if word[:2] in ("-I", "-i") else ""
        if flag and (folder := word[len(flag) :] or following):
            found[flag].append(folder)
    return list(dict.fromkeys(folder for folders in found.values() for folder in folders))
