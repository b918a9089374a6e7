"""The report that pytest writes with ``--junitxml``: which tests ran, and how each ended.

A process that ends before its tests do, whatever its exit code, leaves no report. The layout is pytest's own
(``junit_family=xunit1``, which names each test's file).
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path, PurePosixPath

from agent.regular_files import read_regular
from agent.workspace.testoutput import CheckCounts

LARGEST = 32 << 20
"""Bytes of a report that is read."""

OPTIONS = ("-o", "junit_family=xunit1")


def read_junit(path: Path) -> CheckCounts | None:
    """Counts and names of a report, names as pytest prints them; None when there is none that can be read."""
    try:
        if path.is_symlink():  # the code under check can have put anything there
            return None
        root = ElementTree.fromstring(read_regular(path, LARGEST))
    except (OSError, ElementTree.ParseError, ValueError):
        return None
    named: dict[str, bool] = {}
    for case in root.iter("testcase"):
        kinds = {child.tag for child in case}
        if "skipped" in kinds and not kinds & {"failure", "error"}:
            continue
        name = _name(case)
        named[name] = named.get(name, True) and not kinds & {"failure", "error"}
    passing = tuple(name for name, good in named.items() if good)
    failing = tuple(name for name, good in named.items() if not good)
    return CheckCounts(len(passing), len(failing), passing, failing)


def _name(case: ElementTree.Element) -> str:
    file, classes, name = case.get("file", ""), case.get("classname", ""), case.get("name", "")
    if not file:  # a file that cannot be collected has only its module's name
        return name.replace(".", "/") + ".py" if not classes and name else "::".join(filter(None, (classes, name)))
    module = PurePosixPath(file).with_suffix("").as_posix().replace("/", ".")
    inner = classes.removeprefix(module).strip(".")
    return "::".join(filter(None, (file, *inner.split("."), name)))
