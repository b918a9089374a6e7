"""A Python file of tests, changed so that a test which does not end fails alone and the others report.

A runner of Python reports when all tests have run; one that does not end hides them all. So each test gets an alarm: code at
the end of the file wraps the test functions and methods, whatever runs them. It does not end what hangs outside of Python's
own code or catches everything, nor coroutines, fixtures, and what a whole class is set up with.
"""

from __future__ import annotations

import ast

from agent.language.base import AFTER_ENDLESS, ENDLESS, TEST_SECONDS
from agent.language.nesting import UNREADABLE
from agent.textfile import lines_of

_LATER_SECONDS = 1.0
_MOST_LATER = 3
"""Seconds that a test may take, four times those of the longest before it at least, once another did not end; and how many
more may do so before all others have the shortest time."""

_AGAIN = 0.05
"""Seconds after which a test that caught the alarm is told again."""

_ALARMS = '''

def _cra_alarms(space, own):
    import functools, inspect, os, signal, sys, threading, time, types

    Endless = type("Endless", (BaseException,), {{"__module__": "builtins"}})

    def end(*_):
        __tracebackhide__ = True
        raise Endless("{endless}")

    end.is_alarm = True
    times = sys.modules.setdefault("_cra_times", types.SimpleNamespace(hung=0, longest=0.0))  # one for all files

    def allowed():
        usual = float(os.environ["{seconds}"])
        if not times.hung:
            return usual
        return {short} if times.hung > {most} else min(usual, max({later}, 4 * times.longest))

    def alarmed(test):
        @functools.wraps(test)
        def run(*args, **named):
            inner = signal.getsignal(signal.SIGALRM)
            if hasattr(inner, "is_alarm") or threading.current_thread() is not threading.main_thread():
                return test(*args, **named)
            began = time.monotonic()
            signal.signal(signal.SIGALRM, end)
            signal.setitimer(signal.ITIMER_REAL, allowed(), {again})
            try:
                return test(*args, **named)
            except Endless:
                times.hung += 1
                began = time.monotonic()
                raise
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, inner or signal.SIG_DFL)
                times.longest = max(times.longest, time.monotonic() - began)
        return run

    def is_test(name, one):
        named = name.startswith("test") or name == "setUp"
        return named and inspect.isfunction(one) and not inspect.iscoroutinefunction(one)

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
    """``text`` with an alarm for each of its tests, above the ``if __name__ == ...`` behind them where there is one; "" when
    it cannot be read or holds no tests. It runs only where :data:`TEST_SECONDS` is set."""
    del path
    try:
        tree = ast.parse(text)
    except UNREADABLE:
        return ""
    tests = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    if not tests:
        return ""
    alarms = _ALARMS.format(
        endless=ENDLESS, seconds=TEST_SECONDS, short=AFTER_ENDLESS / 1e6, later=_LATER_SECONDS, most=_MOST_LATER,
        again=_AGAIN,
    )  # fmt: skip
    lines = lines_of(text)
    at = next((node.lineno - 1 for node in tree.body if _runs_all(node) and node.lineno > max(tests)), len(lines))
    before = "".join(lines[:at])
    return before + ("" if before.endswith("\n") else "\n") + alarms + "".join(lines[at:])


def _runs_all(node: ast.stmt) -> bool:
    """``if __name__ == "__main__":``."""
    left = node.test.left if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) else None
    return isinstance(left, ast.Name) and left.id == "__name__"
