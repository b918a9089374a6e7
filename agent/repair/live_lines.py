"""Which lines a test executes. Standard library only: it stands beside ``warm_worker`` in the project's own interpreter."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any

TREE = os.getcwd()


def monitoring() -> Any:
    """``sys.monitoring``, which Python has from 3.12 on."""
    return vars(sys)["monitoring"]


class LineTracer:
    """Which lines of the project a test executes: by ``sys.monitoring`` where there is, else by a trace function."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.hits: dict[str, set[int]] = {}
        self.known: dict[Any, str] = {}
        self.skip = set(request.get("skip") or ())
        self.tool: Any = None

    def path(self, code: Any) -> str:
        """The path of a code object inside the project; "" for code from elsewhere."""
        found = self.known.get(code.co_filename)
        if found is None:
            full = os.path.realpath(code.co_filename)
            inside = full.startswith(TREE + os.sep) and "site-packages" not in full
            found = os.path.relpath(full, TREE) if inside and code.co_filename[:1] != "<" else ""
            self.known[code.co_filename] = found = "" if found in self.skip else found
        return found

    def start(self) -> None:
        """Begin to record."""
        self.hits = {}
        if hasattr(sys, "monitoring"):
            watch = monitoring()
            self.tool = watch.COVERAGE_ID
            with contextlib.suppress(ValueError):
                watch.use_tool_id(self.tool, "cra")
            watch.register_callback(self.tool, watch.events.LINE, self._line)
            watch.restart_events()
            watch.set_events(self.tool, watch.events.LINE)
        else:
            threading.settrace(self._call)
            sys.settrace(self._call)

    def stop(self) -> dict[str, list[int]]:
        """End, and tell what was recorded."""
        if self.tool is not None:
            monitoring().set_events(self.tool, 0)
        else:
            sys.settrace(None)
            threading.settrace(None)
        return self.so_far()

    def so_far(self) -> dict[str, list[int]]:
        """Path to lines, sorted."""
        return {path: sorted(lines) for path, lines in list(self.hits.items())}

    def _line(self, code: Any, line: int) -> Any:
        path = self.path(code)
        if path:
            self.hits.setdefault(path, set()).add(line)
        return monitoring().DISABLE

    def _call(self, frame: Any, event: str, _: Any) -> Any:
        path = self.path(frame.f_code)
        if not path:
            return None
        lines = self.hits.setdefault(path, set())

        def local(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            return local

        return local
