"""A Python file of tests, changed so that a test which does not end fails alone and the others report.

A runner of Python reports when all tests have run; one that does not end hides them all. So each test gets an alarm: code at
the end of the file wraps the test functions and methods, whatever runs them. What hangs outside of Python's own code is not
ended by it.
"""

from __future__ import annotations

import ast

from agent.language.base import AFTER_ENDLESS, ENDLESS, TEST_LIMIT, TEST_SECONDS
from agent.language.nesting import UNREADABLE

ALONE_SECONDS = 4
"""Seconds that a test may take where the environment does not say."""

_AGAIN = 0.05
"""Seconds after which a test that caught the alarm is told again."""

_ALARMS = '''

def _cra_alarms(space, own):
    import functools, inspect, os, signal, threading

    Endless = type("Endless", (BaseException,), {{"__module__": "builtins"}})

    def end(*_):
        __tracebackhide__ = True
        raise Endless("{endless}")

    said, hung = int(os.environ.get("{limit}", "0")) / 1e6, []
    alone = float(os.environ.get("{seconds}", "{alone}"))

    def alarmed(test):
        @functools.wraps(test)
        def run(*args, **named):
            if threading.current_thread() is not threading.main_thread():
                return test(*args, **named)
            before = signal.signal(signal.SIGALRM, end)
            signal.setitimer(signal.ITIMER_REAL, said or ({after} if hung else alone), {again})
            try:
                return test(*args, **named)
            except Endless:
                hung.append(test)
                raise
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
        return run

    def is_test(name, one):
        return name.startswith("test") and inspect.isfunction(one) and not inspect.iscoroutinefunction(one)

    for name, one in list(space.items()):
        if is_test(name, one) and one.__module__ == own:
            space[name] = alarmed(one)
        elif inspect.isclass(one) and one.__module__ == own:
            for inner, member in list(vars(one).items()):
                if is_test(inner, member):
                    setattr(one, inner, alarmed(member))


_cra_alarms(globals(), __name__)

'''


def isolated(text: str, path: str) -> str:
    """``text`` with an alarm for each of its tests, in front of what runs them where the file is a program too; "" when it
    cannot be read or holds no tests."""
    del path
    try:
        tree = ast.parse(text)
    except UNREADABLE:
        return ""
    if not any(isinstance(node, ast.FunctionDef) and node.name.startswith("test") for node in ast.walk(tree)):
        return ""
    alarms = _ALARMS.format(
        endless=ENDLESS, limit=TEST_LIMIT, seconds=TEST_SECONDS, after=AFTER_ENDLESS / 1e6, alone=ALONE_SECONDS, again=_AGAIN
    )
    lines = text.splitlines(keepends=True)
    programs = [node.lineno for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    at = programs[0] - 1 if programs else len(lines)
    before = "".join(lines[:at])
    return before + ("" if before.endswith("\n") else "\n") + alarms + "".join(lines[at:])
