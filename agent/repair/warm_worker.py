"""Started as a script inside the sandbox: runs one candidate after the other in a copy of the project.

Standard library only, since the project's own interpreter runs it. Python tests are run by a fork of a process that has
pytest (or unittest) loaded and the project not: a candidate then costs a fork and its tests, not the start of an
interpreter. With ``live`` even the project is loaded and its tests are collected: the fork exchanges the code of what the
candidate changes (``live_code``). Any other command is started again for each candidate.

Usage: ``warm_worker.py KIND REQUESTS REPLIES -- ARGUMENT…`` with KIND pytest, unittest or command. REQUESTS and REPLIES are
named pipes that carry one JSON object a line.

A request holds ``id``, ``files`` (path to text, put back afterwards), ``tests`` (names, or null for all), ``first`` (so
many tests are run whatever becomes of them; if one of them failed, or one later does, that is the end), ``limit`` (seconds
for all), ``each`` (seconds for one test), ``cpu`` (processor seconds for one test), ``trace`` (report executed lines) and
``live`` (the project may stay loaded). With ``live`` it may hold ``watched``, path and name of a function whose calls are
told, and ``inputs``, which it is called with in place of tests. For commands there are ``env``; ``halt``, by which a run
is given up (``pattern`` matches a line that tells of a failed check and captures its name, ``good`` are the names of which
one is enough, ``bad`` those that are enough together); and ``then``, programs (``words``, ``cwd``, ``stdin``, ``env``,
``limit``) that are run once the command has built the files, each with a reply of its own.

A reply holds ``id``, ``results`` (name, outcome, seconds, message), ``hits`` (test to path to lines),
``collected`` (all names, where all were wanted), ``cut`` (the test that ran out of time), ``died`` (a signal), ``broken``
(why nothing could be collected), and for commands ``code`` and ``output``.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

if __package__:
    from agent.repair.live_calls import CallRecorder, answers
    from agent.repair.live_code import LiveCode
    from agent.repair.live_commands import put_files, run_commands
    from agent.repair.live_lines import LineTracer
else:
    from live_calls import CallRecorder, answers  # type: ignore[import-not-found,no-redef]
    from live_code import LiveCode  # type: ignore[import-not-found,no-redef]
    from live_commands import put_files, run_commands  # type: ignore[import-not-found,no-redef]
    from live_lines import LineTracer  # type: ignore[import-not-found,no-redef]

TREE = os.getcwd()
MEMORY = 2 << 30
"""Bytes that a test process may have: a candidate that grows without end dies of it, and the machine does not."""

LOADING = 60.0
"""Seconds that a project may take to be loaded."""

MESSAGE = 600
FAILED = ("failed", "error")


class Report:
    """What one child process tells its parent, a JSON object a line."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.lock = threading.Lock()

    def say(self, **fields: Any) -> None:
        """Send one line."""
        data = (json.dumps(fields) + "\n").encode("utf-8", "replace")
        with self.lock:
            while data:
                data = data[os.write(self.fd, data) :]


class Job:
    """One request inside a child process."""

    def __init__(self, request: dict[str, Any], report: Report) -> None:
        self.request = request
        self.report = report
        self.wanted = None if request.get("tests") is None else {name: n for n, name in enumerate(request["tests"])}
        self.lines = LineTracer(request) if request.get("trace") else None
        self.current = ""
        self.began = time.monotonic()
        self.ended = self.failed = 0
        self.over = False
        self.template: Template | None = None

    def begin(self, name: str) -> None:
        """A test starts."""
        self.current, self.began = name, time.monotonic()
        self.report.say(start=name)
        if self.request.get("cpu"):  # counted in processor time: a busy machine makes no test hang
            signal.setitimer(signal.ITIMER_PROF, float(self.request["cpu"]))
        if self.lines is not None:
            threading.Thread(target=self._watch, args=(name,), daemon=True).start()
            self.lines.start()

    def end(self, name: str, outcome: str, message: str = "") -> None:
        """A test ended. Past the first ``first`` tests of a request one failure ends it."""
        self.ended += 1
        self.failed += outcome in FAILED
        signal.setitimer(signal.ITIMER_PROF, 0)
        if self.failed and self.ended >= int(self.request.get("first") or 1 << 30):
            self.over = True
        hits = self.lines.stop() if self.lines is not None and self.current else None
        self.current = ""
        self.report.say(
            test=name, outcome=outcome, seconds=time.monotonic() - self.began, message=message[:MESSAGE], hits=hits
        )

    def _watch(self, name: str) -> None:
        """A test that hangs is ended from within, so that the lines it went through are known."""
        time.sleep(float(self.request.get("each") or 2.0) * 0.9)
        if self.current == name and self.lines is not None:
            self.report.say(test=name, outcome="timeout", seconds=time.monotonic() - self.began, message="It did not end.",
                            hits=self.lines.so_far())  # fmt: skip
            os._exit(0)


class Parent:
    """Reads requests, forks a child for each, watches it, writes replies."""

    def __init__(self, source: Any, replies: int) -> None:
        self.source = source
        self.replies = replies
        self._template: Loaded | None = None

    def serve(self) -> Job | None:
        """Answer requests until there are no more. Returns only in a child, with what it has to do."""
        for line in self.source:
            request = json.loads(line)
            live = bool(request.get("live"))
            if live and self._template is None:
                self._template = Loaded()
                job = self._template.start(self)
                if job is not None:
                    return job
            restore = put_files(request.get("files") or {})
            reply = self._template.ask({**request, "before": restore}) if live and self._template is not None else None
            if reply is None and request.get("watched"):
                reply = {"id": request["id"]}
            if reply is None:
                job, reply = self.fork(request)
                if job is not None:
                    return job
            put_files(restore)
            self.answer(reply)
        return None

    def fork(self, request: dict[str, Any]) -> tuple[Job | None, dict[str, Any]]:
        """(None, the reply) when a child has done the request; in the child (what it has to do, nothing)."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.close(self.replies)
            report = Report(writing)
            self.prepare(request, report)
            return Job(request, report), {}
        os.close(writing)
        reply = self._watch(child, reading, request)
        os.close(reading)
        return None, reply

    def prepare(self, request: dict[str, Any], report: Report) -> None:
        """In the child: limits, and no module of the project left from the parent."""
        limit_child()
        sys.dont_write_bytecode = not request.get("compile")
        for name in project_modules():
            del sys.modules[name]

    def answer(self, reply: dict[str, Any]) -> None:
        """Write one reply."""
        data = (json.dumps(reply) + "\n").encode("utf-8", "replace")
        while data:
            data = data[os.write(self.replies, data) :]

    def _watch(self, child: int, reading: int, request: dict[str, Any]) -> dict[str, Any]:
        """Listen to a child until it ends or its time is over. Returns the reply to its request."""
        heard = Heard(request)
        buffer, cut = b"", False
        while (left := heard.left()) > 0:
            ready, _, _ = select.select([reading], [], [], left)
            if not ready:
                continue
            chunk = os.read(reading, 1 << 16)
            if not chunk:
                break
            *whole, buffer = (buffer + chunk).split(b"\n")
            for raw in whole:
                heard.take(json.loads(raw))
        else:
            cut = True
        for pid in (-child, child):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return heard.ended(cut, status)


class Heard:
    """What a child has said so far, as the reply to its request, and the test that it is in."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.begun = self.since = time.monotonic()
        self.deadline = self.begun + float(request.get("limit") or 60)
        self.each = float(request.get("each") or 1e9)
        self.current = ""
        self.reply: dict[str, Any] = {
            "id": request["id"], "results": [], "hits": {}, "cut": "", "died": 0, "broken": "", "calls": [],
        }  # fmt: skip

    def left(self) -> float:
        """Seconds that the test it is in, or what comes before the next one, may still take."""
        return min(self.deadline, self.since + self.each + (0 if self.current else 2.0)) - time.monotonic()

    def take(self, said: dict[str, Any]) -> None:
        """One line of the child."""
        if "start" in said:
            self.current, self.since = said["start"], time.monotonic()
        elif "test" in said:
            self.reply["results"].append([said["test"], said["outcome"], said["seconds"], said["message"]])
            if said["hits"] is not None:
                self.reply["hits"][said["test"]] = said["hits"]
            self.current, self.since = "", time.monotonic()
        elif "refused" in said:
            self.reply["refused"] = True
        elif "call" in said:
            self.reply["calls"].append(said["call"])
        else:
            self.reply.update({name: said[name] for name in ("broken", "collected") if name in said})

    def ended(self, cut: bool, status: int) -> dict[str, Any]:
        """The reply, with what became of a test that did not end. ``status`` is the child's, ``cut`` that its time was
        over."""
        died = 0 if cut or not os.WIFSIGNALED(status) else os.WTERMSIG(status)
        cut = cut or died == signal.SIGPROF
        self.reply["died"] = died
        if cut:
            self.reply["cut"] = self.current or "before the first test"
        if (cut or died) and self.current:
            self.reply["results"].append([self.current, "timeout" if cut else "crash", time.monotonic() - self.since, ""])
        self.reply["seconds"] = time.monotonic() - self.begun
        return self.reply


def limit_child() -> None:
    """A process group of its own, and a bound on its memory."""
    os.setpgid(0, 0)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Loaded:
    """The parent's end of a template: a child that has loaded the project, and forks."""

    def __init__(self) -> None:
        self._to = -1
        self._lines: Any = None
        self._child = 0

    def start(self, parent: Parent) -> Job | None:
        """Fork it and wait until its tests are collected. Returns what it has to do in the child, None in the parent."""
        there, self._to = os.pipe()
        back, writing = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._to)
            os.close(back)
            os.close(parent.replies)
            parent.prepare({}, Report(writing))
            job = Job({"tests": None}, Report(os.open(os.devnull, os.O_WRONLY)))
            job.template = Template(os.fdopen(there, encoding="utf-8"), writing)
            return job
        os.close(there)
        os.close(writing)
        self._lines = os.fdopen(back, "rb")
        ready, _, _ = select.select([self._lines], [], [], LOADING)
        if not ready or not self._lines.readline():
            self._end()
        return None

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Its reply; None where it cannot do this, or is gone."""
        if self._to < 0:
            return None
        data = (json.dumps(request) + "\n").encode("utf-8", "replace")
        try:
            while data:
                data = data[os.write(self._to, data) :]
            line = self._lines.readline()
        except OSError:
            line = b""
        if not line:
            self._end()
            return None
        reply: dict[str, Any] = json.loads(line)
        return None if reply.get("refused") and not request.get("watched") else reply

    def _end(self) -> None:
        os.close(self._to)
        self._to = -1
        with contextlib.suppress(OSError):
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)


class Template(Parent):
    """A process that has loaded the project and collected its tests. It forks a child for each request."""

    def __init__(self, source: Any, replies: int) -> None:
        super().__init__(source, replies)
        self._live = LiveCode(TREE)

    def serve(self) -> Job:
        """As the parent does, once the project is loaded."""
        if not self._live.loaded():
            os._exit(0)
        self.answer({"ready": True})
        for line in self.source:
            job, reply = self.fork(json.loads(line))
            if job is not None:
                return job
            self.answer(reply)
        os._exit(0)

    def prepare(self, request: dict[str, Any], report: Report) -> None:
        """In the child: limits, and the candidate's code in place of what is loaded."""
        limit_child()
        try:
            done = self._live.exchange(request["before"], request.get("files") or {})
        except (SyntaxError, ValueError) as error:
            report.say(broken=repr(error)[-MESSAGE:])
            os._exit(0)
        if not done:
            report.say(refused=True)
            os._exit(0)
        if request.get("watched"):
            self._watch_calls(request, report)

    def _watch_calls(self, request: dict[str, Any], report: Report) -> None:
        function = self._live.function(*request["watched"])
        if function is None:
            os._exit(0)
        if "inputs" not in request:
            CallRecorder(function.__code__, lambda text: report.say(call=text))
            return
        for said in answers(function, request["inputs"]):
            report.say(call=said)
        os._exit(0)


def project_modules() -> list[str]:
    """Names of loaded modules that lie in the tree and are none of pytest's configuration."""
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(TREE + os.sep) and "site-packages" not in file and os.path.basename(file) != "conftest.py":
            found.append(name)
    return found


class PytestPlugin:
    """Serves from inside pytest, when configuration and plugins are loaded and nothing is collected yet."""

    def __init__(self, parent: Parent | None, job: Job | None) -> None:
        self.parent, self.job = parent, job
        self.messages: dict[str, str] = {}

    def pytest_collection(self, session: Any) -> None:
        """The parent stays here; a child goes on to collect what it was asked for."""
        if self.job is None and self.parent is not None:
            if project_modules():
                ends = (self.parent.source.fileno(), self.parent.replies)
                for fd in ends:
                    os.set_inheritable(fd, True)
                pipes = [f"/proc/self/fd/{fd}" for fd in ends]
                os.execv(sys.executable, [sys.executable, sys.argv[0], "pytest-cold", *pipes, *sys.argv[4:]])
            self.job = self.parent.serve()
            if self.job is None:
                os._exit(0)
        assert self.job is not None
        if self.job.wanted is not None:
            files = dict.fromkeys(name.partition("::")[0] for name in self.job.wanted)
            session.config.args = [str(session.config.rootpath / file) for file in files]

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Only the wanted tests, in the order in which they were named."""
        assert self.job is not None
        if self.job.wanted is not None:
            self._select(items)
        else:
            self.job.report.say(collected=[one.nodeid for one in items])

    def _select(self, items: list[Any]) -> None:
        wanted = self.job.wanted if self.job is not None else None
        if wanted is not None:
            items[:] = sorted((one for one in items if one.nodeid in wanted), key=lambda one: wanted[one.nodeid])

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be collected breaks the candidate. A template must hold all tests, so it ends."""
        if report.failed and self.job is not None:
            self.job.report.say(broken=str(report.longrepr)[-MESSAGE:])
            if self.job.template is not None:
                os._exit(0)

    def pytest_runtestloop(self, session: Any) -> None:
        """A template stays here; its children go on to run what they were asked for."""
        if self.job is not None and self.job.template is not None:
            self.job = self.job.template.serve()
            self._select(session.items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell what runs now."""
        assert self.job is not None
        self.job.begin(nodeid)
        if self.job.lines is not None:
            self.job.lines.stop()

    def pytest_runtest_call(self, item: Any) -> None:
        """Record lines from here on, where they are wanted."""
        assert self.job is not None
        if self.job.lines is not None:
            self.job.lines.start()

    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        """A report without the rendered traceback, which takes seconds for a deep recursion and is read by nobody here.
        pytest's own hook for ``unittest.TestCase`` is tried first: it puts what the test case caught into ``call``."""
        import pytest

        outcome: Any = "passed"
        longrepr: Any = None
        if call.excinfo is not None:
            skipped = isinstance(call.excinfo.value, pytest.skip.Exception)
            outcome = "skipped" if skipped else "failed"
            text = place_of((call.excinfo.type, call.excinfo.value, call.excinfo.tb))
            longrepr = (str(item.path), 0, text) if skipped else text
        keywords = dict.fromkeys(item.keywords, 1)
        return pytest.TestReport(item.nodeid, item.location, keywords, outcome, longrepr, call.when, (), call.duration)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell how a test went, once it is through."""
        assert self.job is not None
        name = report.nodeid
        if report.failed and name not in self.messages:
            self.messages[name] = ("error: " if report.when != "call" else "") + str(report.longrepr)
        elif report.skipped and name not in self.messages:
            self.messages[name] = ""
        if report.when == "teardown":
            message = self.messages.get(name)
            outcome = "passed" if message is None else "skipped" if not message else "failed"
            self.job.end(name, outcome, message or "")
            if self.job.over:
                os._exit(0)  # how pytest stops (it renders a traceback of its own) takes a fifth of a second

    def pytest_sessionfinish(self) -> None:
        """All is told. What pytest does now (summaries, a last look at all objects) may take seconds."""
        os._exit(0)


def run_pytest(parent: Parent, arguments: list[str], cold: bool) -> None:
    """Serve with pytest loaded: configured once, or (``cold``) again in each child, where the configuration imports the
    project."""
    import pytest

    options = ["-q", "--tb=line", "--capture=no", "-p", "no:cacheprovider"]
    job = None
    if cold:
        job = parent.serve()
        if job is None:
            return
    first = pytest.hookimpl(tryfirst=True)
    for hook in (PytestPlugin.pytest_collection, PytestPlugin.pytest_runtestloop, PytestPlugin.pytest_sessionfinish):
        first(hook)
    plugin = PytestPlugin(parent, job)
    with contextlib.suppress(BaseException):
        pytest.main([*arguments, *options], plugins=[plugin])
    if plugin.job is None:
        parent.answer({"id": -1, "broken": "pytest ended before it collected anything", "results": [], "hits": {}})
    os._exit(0)


def run_unittest(parent: Parent, arguments: list[str]) -> None:
    """Serve with unittest loaded; tests are loaded in each child."""
    import unittest

    served = parent.serve()
    if served is None:
        return

    sys.path.insert(0, TREE)
    runner = SuiteRunner(served)
    try:
        unittest.main(module=None, argv=["python -m unittest", *arguments], testRunner=runner, exit=False)
    except BaseException as error:
        runner.job.report.say(broken=repr(error)[-MESSAGE:])
    os._exit(0)


class SuiteRunner:
    """What unittest runs its suite with: the tests that ``job`` wants, in its order. A template's job is exchanged for that
    of the request that comes to it."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def run(self, suite: Any) -> Any:
        """Run the suite. Returns unittest's own result."""
        import unittest

        tests = list(tests_in(suite))
        broken = [one for one in tests if type(one).__name__ == "_FailedTest"]
        if broken:
            self.job.report.say(broken=broken[0].id())
        if self.job.template is not None:
            if broken:
                os._exit(0)
            self.job = self.job.template.serve()
        wanted = self.job.wanted
        if wanted is not None:
            tests = sorted((one for one in tests if one.id() in wanted), key=lambda one: wanted[one.id()])
        else:
            self.job.report.say(collected=[one.id() for one in tests])
        result = result_for(self.job)
        unittest.TestSuite(tests).run(result)
        return result


def tests_in(suite: Any) -> Iterator[Any]:
    """The tests of a suite and of the suites in it."""
    for one in suite:
        if isinstance(one, Iterable):
            yield from tests_in(one)
        else:
            yield one


def result_for(job: Job) -> Any:
    """A ``unittest.TestResult`` that tells ``job`` when a test begins and how it ended."""
    import unittest

    class Result(unittest.TestResult):
        bad: str = ""
        skipped_one = False

        def startTest(self, test: Any) -> None:
            super().startTest(test)
            self.bad, self.skipped_one = "", False
            job.begin(test.id())

        def stopTest(self, test: Any) -> None:
            super().stopTest(test)
            job.end(test.id(), "failed" if self.bad else "skipped" if self.skipped_one else "passed", self.bad)
            if job.over:
                self.stop()

        def addFailure(self, test: Any, err: Any) -> None:
            super().addFailure(test, err)
            self.bad = self.bad or place_of(err)

        def addError(self, test: Any, err: Any) -> None:
            super().addError(test, err)
            self.bad = self.bad or place_of(err)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            super().addSubTest(test, subtest, err)
            if err is not None:
                self.bad = self.bad or place_of(err)

        def addSkip(self, test: Any, reason: str) -> None:
            super().addSkip(test, reason)
            self.skipped_one = True

        def addUnexpectedSuccess(self, test: Any) -> None:
            super().addUnexpectedSuccess(test)
            self.bad = "it passed and was expected to fail"

    return Result()


def place_of(err: Any) -> str:
    """Where an exception was raised and what it says: the last frame inside the project."""
    kind, value, trace = err
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith(TREE):
            place = f"{os.path.relpath(file, TREE)}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return f"{place}{kind.__name__}: {value}"


def main() -> None:
    """Serve as the command line says."""
    kind, requests, replies = sys.argv[1:4]
    arguments = sys.argv[sys.argv.index("--") + 1 :]
    nothing = os.open(os.devnull, os.O_RDWR)
    if kind != "command":
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        for place in (TREE, os.path.join(TREE, "src")):
            if os.path.isdir(place) and place not in sys.path:
                sys.path.insert(0, place)
    source = open(requests, encoding="utf-8")  # noqa: SIM115 - for the life of the process
    parent = Parent(source, os.open(replies, os.O_WRONLY))
    if kind in ("pytest", "pytest-cold"):
        run_pytest(parent, arguments, kind == "pytest-cold")
    elif kind == "unittest":
        run_unittest(parent, arguments)
    else:
        run_commands(parent.source, parent.answer, arguments)


if __name__ == "__main__":
    main()
