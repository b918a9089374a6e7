"""Finding the checks, reading what they say, and comparing two runs of them."""

import sys

import pytest

from agent.values import CheckResult
from agent.workspace.checks import compare, find_test_command, make_targets, run_checks, worse
from agent.workspace.protected import is_hidden, is_protected, is_test_file
from agent.workspace.testoutput import read_outcome


def put(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"Makefile": "all:\n\ttrue\n"}, ""),
        ({"Makefile": "CC := gcc\n.PHONY: test\nall test: prog\n\t./prog\n"}, "make test"),
        ({"Makefile": "check:: prog\n\t./prog\n"}, "make check"),
        ({"Makefile": "X = test:\n# test: no\nfoo: test.c\n\tcc\n", "tests/test_a.py": ""}, "pytest"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest"),
        ({"pyproject.toml": "not [ toml", "test/unit/test_a.py": ""}, "pytest"),
        ({"setup.cfg": "[tool:pytest]\n"}, "pytest"),
        ({"test_a.py": ""}, "pytest"),
        ({"tests/data.txt": ""}, ""),
    ],
)
def test_the_command_is_found(tmp_path, files, command):
    assert find_test_command(put(tmp_path, files)) == command
    assert find_test_command(tmp_path, " ./own --x ") == "./own --x"


def test_targets_are_not_assignments_or_recipes(tmp_path):
    put(tmp_path, {"Makefile": "A := b\nB::=c\nx y: z\n\techo not: this\n%.o: %.c\n.PHONY: x\ninclude a.mk\n"})
    assert {"x", "y"} <= make_targets(tmp_path) and not {"A", "B", "echo", ".PHONY"} & make_targets(tmp_path)


OUTPUTS = {
    "pytest": ("FAILED t.py::test_b - assert 0\nPASSED t.py::test_a\n==== 1 failed, 1 passed, 2 skipped in 0.1s ====", 1, 1,
               ["t.py::test_a"], ["t.py::test_b"]),
    "pytest verbose": ("t.py::test_a PASSED  [ 50%]\nt.py::test_b[x y] FAILED [100%]\n1 failed, 1 passed in 1.00s", 1, 1,
                       ["t.py::test_a"], ["t.py::test_b[x y]"]),
    "pytest collection": ("ERROR t.py - SyntaxError\n1 error in 0.10s", 0, 1, [], ["t.py"]),
    "pytest colour": ("\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m\x1b[31m in 0.1s\x1b[0m", 2, 1, [], []),
    "pytest many": ("10 passed, 1 warning in 75.03s (0:01:15)", 10, 0, [], []),
    "unittest": ("test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... FAIL\nRan 2 tests in 1s\nFAILED (failures=1)", 1, 1,
                 ["test_a (t.T.test_a)"], ["test_b (t.T.test_b)"]),
    "unittest skips": ("Ran 5 tests in 0.1s\n\nOK (skipped=2)", 3, 0, [], []),
    "tap": ("TAP version 13\n1..4\nok 1 - first\nnot ok 2 - second\nok 3 - third # SKIP no net\nnot ok 4 # TODO later", 1, 1,
            ["first"], ["second"]),
    "ctest": ("1/2 Test #1: queue_order ......***Failed    0.00 sec\n2/2 Test #2: queue_ok ....   Passed    0.01 sec\n"
              "50% tests passed, 1 tests failed out of 2", 1, 1, ["queue_ok"], ["queue_order"]),
    "check": ("50%: Checks: 2, Failures: 1, Errors: 0\nt.c:3:F:core:test_len:0: Assertion failed", 1, 1, [], ["test_len"]),
    "cmocka": ("[ RUN      ] test_a\n[       OK ] test_a\n[  ERROR   ] --- 1 != 2\n[  FAILED  ] test_b\n"
               "[  PASSED  ] 1 test(s).\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] test_b\n", 1, 1,
               ["test_a"], ["test_b"]),
    "gtest": ("[ RUN      ] S.a\n[       OK ] S.a (0 ms)\n[  FAILED  ] S.b (1 ms)\n[  PASSED  ] 1 test.\n", 1, 1,
              ["S.a"], ["S.b"]),
    "unity": ("t.c:3:test_a:PASS\nt.c:9:test_b:FAIL: Expected 1 Was 2\n2 Tests 1 Failures 0 Ignored\nFAIL", 1, 1,
              ["test_a"], ["test_b"]),
    "own": ("PASS a\nx.c:3: not true\nFAIL b\n1 passed, 1 failed", 1, 1, ["a"], ["b"]),
    "own brackets": ("[PASS] a\n[FAIL] b\n", 1, 1, ["a"], ["b"]),
    "own after": ("test_a ... ok\ntest_b ... FAILED\n", 1, 1, ["test_a"], ["test_b"]),
    "own colon": ("PASS: a\nPASS: b\nFAIL: c\n", 2, 1, ["a", "b"], ["c"]),
    "counts only": ("Passed: 7, Failed: 2\n", 7, 2, [], []),
    "of": ("3/4 tests passed\n", 3, 1, [], []),
    "all of": ("All 12 tests passed.\n", 12, 0, [], []),
    "nothing": ("hello\nworld\n", None, None, [], []),
    "empty": ("", None, None, [], []),
    "crashed": ("PASS a\nSegmentation fault\n", 1, 0, ["a"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_counts_and_names(name):
    text, passed, failed, passing, failing = OUTPUTS[name]
    outcome = read_outcome(text)
    assert (outcome.passed, outcome.failed) == (passed, failed)
    assert (list(outcome.passing), list(outcome.failing)) == (passing, failing)


def check(ok, passing=(), failing=(), passed=None, failed=None):
    passed = len(passing) if passed is None else passed
    return CheckResult("x", 0 if ok else 1, ok, passed, failed or len(failing), tuple(failing), tuple(passing))


def test_compare_names_what_changed():
    before = check(False, ["a", "b"], ["c", "d"])
    assert compare(before, check(False, ["a", "c"], ["b", "d"])) == (("c",), ("b",))
    assert compare(before, check(True, ["a", "b", "c", "d"])) == (("c", "d"), ())
    assert compare(before, check(False, passed=0)) == ((), ("a", "b"))
    assert compare(None, before) == (("a", "b"), ("c", "d"))


def test_runners_that_name_only_failures():
    before = check(False, passed=3, failing=["x"])
    assert compare(before, check(True, passed=4)) == (("x",), ())
    assert compare(before, check(False, passed=3, failing=["y"])) == ((), ("y",))


def test_worse_means_that_something_was_lost():
    before = check(False, ["a"], ["b"])
    assert not worse(before, check(True, ["a", "b"]))
    assert not worse(before, check(False, ["a"], ["b"]))
    assert worse(before, check(False, ["b"], ["a"]))
    assert worse(before, check(False, passed=0))
    assert worse(check(True, passed=2), check(False, passed=2, failed=1))
    assert not worse(None, check(False, ["a"], ["b"]))


async def test_a_build_that_breaks_has_nothing_passed(tmp_path):
    put(tmp_path, {"Makefile": "test: t\n\t./t\n", "t.c": "int main(void) { return 0 }\n"})
    result = await run_checks(tmp_path, "make test", 60)
    assert (result.ok, result.passed, result.failed) == (False, 0, None) and "error:" in result.output


async def test_the_exit_code_decides_not_the_words(tmp_path):
    assert (await run_checks(tmp_path, "echo FAIL x", 20)).ok
    assert not (await run_checks(tmp_path, "echo PASS x; exit 1", 20)).ok
    slow = await run_checks(tmp_path, "sleep 50", 0.3)
    assert slow.timed_out and not slow.ok


async def test_modules_come_from_the_run_and_not_from_an_installation_of_the_project(tmp_path, monkeypatch):
    put(tmp_path, {"users/src/mine.py": "WHERE = 'users'\n", "users/flat.py": "WHERE = 'users'\n"})
    put(tmp_path, {"run/src/mine.py": "WHERE = 'run'\n", "run/flat.py": "WHERE = 'run'\n"})
    put(tmp_path, {"run/tests/show.py": "import flat, mine\nprint(flat.WHERE, mine.WHERE)\n"})
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/users/src:{tmp_path}/users")
    result = await run_checks(tmp_path / "run", "python3 tests/show.py", 20)
    assert result.output == "run run\n"


async def test_an_error_in_the_middle_of_a_long_output_is_kept(tmp_path):
    script = "seq 20000; echo 'a.c:3:1: error: here'; seq 20000; exit 1"
    result = await run_checks(tmp_path, script, 20)
    assert "a.c:3:1: error: here" in result.output and len(result.output) < 70_000


async def test_pytest_names_passing_tests_too(tmp_path):
    put(tmp_path, {"test_a.py": "def test_x(): print('noise')\ndef test_y(): assert 0\n"})
    result = await run_checks(tmp_path, "pytest -q -p no:cacheprovider", 60)
    assert (result.passing, result.failing) == (("test_a.py::test_x",), ("test_a.py::test_y",))
    assert "noise" not in result.output
    assert not (tmp_path / "__pycache__").exists()


async def test_a_python_that_lacks_pytest_is_replaced_by_ours(tmp_path, monkeypatch):
    put(tmp_path, {"bin/python": f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', "test_a.py": "def test_x(): pass\n"})
    put(tmp_path, {"bin/pytest": "#!/bin/sh\necho 'shim: pytest: command not found'\nexit 127\n"})
    for name in ("python", "pytest"):
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    for command in ("python -m pytest -q -p no:cacheprovider", "pytest -p no:cacheprovider"):
        result = await run_checks(tmp_path, command, 60)
        assert result.ok and result.passed == 1, result.output
        assert result.command == command


def test_tests_and_what_runs_them_are_protected():
    for path in ("tests/x.c", "test_a.py", "src/a_test.py", "conftest.py", "a_test.c", "test/data.txt", "spec/a.c"):
        assert is_test_file(path), path
    for path in ("src/a.c", "latest.py", "contest.c", "attest.h", "src/protest.py", "testing.md"):
        assert not is_test_file(path), path
    assert is_protected("Makefile") and is_protected("sub/CMakeLists.txt") and not is_protected("src/make.c")
    assert is_protected("secret/x.c", ["secret/"]) and is_hidden("secret", ["secret/"])
    assert not is_hidden("secrets/x.c", ["secret"]) and not is_hidden("x", ["", "/"])
