"""Failure signals: the forms of many tools (signal_cases.jsonl, own words), and what real tools say here."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.planning.schema import StepResult
from agent.planning.signal_lines import ORDER
from agent.planning.signals import MESSAGE_CAP, extract_failure_signals, signal_rows, signals_from_output
from agent.values import FailureSignal

CASES = [json.loads(line) for line in (Path(__file__).parent / "signal_cases.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_category(case):
    signals = signals_from_output(case["text"], case["command"], case["exit_code"])
    assert (signals[0].category if signals else "none") == case["category"]
    assert all(0 < len(signal.message) <= MESSAGE_CAP for signal in signals)


def run(tmp_path, command, **files):
    for name, text in files.items():
        (tmp_path / name.replace("_dot_", ".")).write_text(text)
    pipe = subprocess.PIPE
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, stdout=pipe, stderr=subprocess.STDOUT, check=False)
    return signals_from_output(done.stdout.decode("utf-8", "replace"), command, done.returncode)


def categories(signals):
    return [signal.category for signal in signals]


def test_gcc_one_signal_a_file_with_the_located_line(tmp_path):
    signals = run(tmp_path, "gcc -Wall -Werror -c a.c", a_dot_c="int f(void) { int x; return y; }\n")
    assert categories(signals) == ["compile_error"]
    assert "error:" in signals[0].message and "y" in signals[0].message and "all warnings being" not in signals[0].message


def test_a_link_error_names_the_symbol(tmp_path):
    signals = run(tmp_path, "gcc a.c", a_dot_c="int nowhere(void);\nint main(void) { return nowhere(); }\n")
    assert categories(signals) == ["compile_error"] and "nowhere" in signals[0].message


def test_make_that_does_not_build_what_it_tests(tmp_path):
    signals = run(tmp_path, "make test", Makefile="test: t\n\t./t\nt: t.c\n\tcc -o t t.c\n", t_dot_c="int main( {\n")
    assert categories(signals)[0] == "compile_error"


def test_a_crash_leaves_only_its_exit_code(tmp_path):
    signals = run(tmp_path, "gcc a.c && ./a.out", a_dot_c="int main(void) { *(volatile int *)0 = 1; return 0; }\n")
    assert categories(signals) == ["runtime_error"]


def test_undefined_behaviour_is_found_behind_exit_code_0(tmp_path):
    code = "#include <limits.h>\nint main(int c, char **v) { (void)v; int x = INT_MAX; x += c; return 0; }\n"
    probing = ["gcc", "-fsanitize=undefined", "-xc", "-", "-o", tmp_path / "p"]
    probe = subprocess.run(probing, input=b"int main(){}", check=False)
    if probe.returncode:
        pytest.skip("no sanitizer here")
    signals = run(tmp_path, "gcc -fsanitize=undefined a.c && ./a.out", a_dot_c=code)
    assert categories(signals) == ["runtime_error"] and "signed integer overflow" in signals[0].message


PYTEST = f"{sys.executable} -m pytest -p no:cacheprovider"


def test_pytest_one_signal_a_test_with_its_own_report(tmp_path):
    text = "def test_a():\n    assert 1 == 2\ndef test_b():\n    raise KeyError('k')\ndef test_c(): pass\n"
    first, second = run(tmp_path, PYTEST, test_x_dot_py=text)
    assert first.category == second.category == "test_failure"
    assert "test_a" in first.message and "assert 1 == 2" in first.message and "KeyError" not in first.message
    assert "test_b" in second.message and "KeyError: 'k'" in second.message and "1 == 2" not in second.message


def test_pytest_that_shows_a_compilers_output_is_a_test_failure(tmp_path):
    text = "def test_a():\n    print('a.c:3:5: error: expected ;')\n    print('undefined reference to `x')\n    assert 0\n"
    assert categories(run(tmp_path, PYTEST, test_x_dot_py=text)) == ["test_failure"]


def test_unittest_and_python_that_does_not_parse(tmp_path):
    text = "import unittest\nclass T(unittest.TestCase):\n    def test_x(self): self.assertEqual(1, 2)\nunittest.main()\n"
    signals = run(tmp_path, f"{sys.executable} t.py", t_dot_py=text)
    assert categories(signals) == ["test_failure"] and "AssertionError: 1 != 2" in signals[0].message
    assert categories(run(tmp_path, f"{sys.executable} b.py", b_dot_py="def f(:\n")) == ["compile_error"]
    assert categories(run(tmp_path, f"{sys.executable} r.py", r_dot_py="{}['k']\n")) == ["runtime_error"]


@pytest.mark.parametrize("command", ["git apply p", "patch -p1 < p"])
def test_patches_that_do_not_apply(tmp_path, command):
    if shutil.which(command.split()[0]) is None:
        pytest.skip("not installed")
    patch = "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    assert categories(run(tmp_path, command, p=patch, x_dot_c="1\n2\n3\n")) == ["patch_failure"]


def test_a_patch_body_is_not_read_as_output():
    text = "SEARCH block not found in a.c\n<<<<<<< SEARCH\na.c:3:1: error: x\nFAILED test_x\n=======\ny\n>>>>>>> REPLACE\n"
    assert categories(signals_from_output(text, "(apply edit block)", 1)) == ["patch_failure"]
    assert categories(signals_from_output(text, "", 1)) == ["patch_failure"]


def test_several_from_one_result_strongest_first():
    text = (
        "a.c:1:1: error: expected ';'\nb.c:2:2: error: unknown type name 'x'\nmake: [Makefile:3: a.o] Error 1 (ignored)\n"
        "FAIL test_x\nFAIL test_y\n1 passed, 2 failed\n==1==ERROR: AddressSanitizer: heap-use-after-free on address\n"
    )
    signals = signals_from_output(text, "make -i test", 2)
    assert categories(signals) == ["compile_error"] * 2 + ["test_failure"] * 2 + ["runtime_error"]
    assert [ORDER.index(signal.category) for signal in signals] == sorted(ORDER.index(s.category) for s in signals)


def test_the_decisive_line_survives_a_long_output():
    noise = "\n".join(f"compiling part {n} of many, all is well so far" for n in range(4000))
    text = f"{noise}\nsrc/a.c:7:3: error: 'x' undeclared\n{noise}\n"
    (signal,) = signals_from_output(text, "make", 2)
    assert "src/a.c:7:3: error: 'x' undeclared" in signal.message and len(signal.message) <= MESSAGE_CAP
    (signal,) = signals_from_output("a.c:1:1: error: " + "x" * 5000, "make", 2)
    assert signal.message.startswith("a.c:1:1: error:") and len(signal.message) == MESSAGE_CAP


@pytest.mark.parametrize("line", ["a" + "." * 200_000, "1 " * 100_000, "test " * 50_000, "x" * 200_000, "(" * 200_000])
def test_long_lines_take_no_long_time(line):
    started = time.process_time()
    signals_from_output(f"{line}\n{line} FAIL\n", "make test", 2)
    assert time.process_time() - started < 2


@given(st.text(max_size=300), st.text(max_size=60), st.none() | st.integers(-64, 255))
def test_any_output_is_read(text, command, exit_code):
    signals = signals_from_output(text, command, exit_code)
    assert all(1 <= len(signal.message) <= MESSAGE_CAP for signal in signals)
    if exit_code:
        assert signals


# What the extraction of failure signals promises, one test a promise.


def test_extract_none_prior_results_returns_empty():
    assert extract_failure_signals(None) == [] == extract_failure_signals([])


def test_extract_success_result_returns_empty():
    assert extract_failure_signals([StepResult("s1", True, raw_response="a.c:1:1: error: was mended")]) == []


def test_extract_compile_error_categorization():
    (signal,) = extract_failure_signals([StepResult("s1", False, "a.c:1:1: error: expected ';'")])
    assert (signal.category, signal.source) == ("compile_error", "error_info")


def test_extract_test_failure_categorization():
    (signal,) = extract_failure_signals([StepResult("s1", False, "FAIL test_push\n3 passed, 1 failed")])
    assert signal.category == "test_failure" and "test_push" in signal.message


def test_extract_patch_failure_categorization():
    (signal,) = extract_failure_signals([StepResult("s1", False, "The search text was not found in src/a.c.")])
    assert signal.category == "patch_failure"


def test_extract_unknown_failure_categorization():
    assert extract_failure_signals([StepResult("s1", False)]) == [
        FailureSignal("unknown", "Step failed with no error info", "step_failed")
    ]
    (signal,) = extract_failure_signals([StepResult("s1", False, "it went wrong somehow")])
    assert (signal.category, signal.message) == ("unknown", "it went wrong somehow")


def test_extract_reads_the_reply_only_when_there_is_no_error_info():
    (signal,) = extract_failure_signals([StepResult("s1", False, "", "a.c:1:1: error: expected ';'")])
    assert (signal.category, signal.source) == ("compile_error", "raw_response")
    (signal,) = extract_failure_signals([StepResult("s1", False, "odd", "a.c:1:1: error: expected ';'")])
    assert signal.category == "unknown"


def test_extract_multiple_failures():
    results = [StepResult("s1", False, "a.c:1:1: error: x"), StepResult("s2", True)]
    results.append(StepResult("s3", False, "FAIL t\n1 failed"))
    assert categories(extract_failure_signals(results)) == ["compile_error", "test_failure"]


def test_extract_takes_signals_that_a_step_carries():
    carried = FailureSignal("test_failure", "test_pop failed", "checks")
    assert extract_failure_signals([StepResult("s1", True, signals=(carried,))]) == [carried]


def test_extract_truncates_long_messages():
    (signal,) = extract_failure_signals([StepResult("s1", False, "x" * 5000)])
    assert len(signal.message) == MESSAGE_CAP


def test_rows_of_a_file():
    rows = [
        '{"id": "A", "text": "a.c:1:1: error: x", "command": "gcc a.c", "exit_code": 1}',
        "",
        '{"id": "B", "text": "2 passed", "command": "pytest", "exit_code": 0}',
        '{"id": "C", "text": null, "command": null, "exit_code": -11}',
    ]
    first, second, third = signal_rows(rows)
    assert (first["id"], first["category"], first["categories"]) == ("A", "compile_error", ["compile_error"])
    assert second == {"id": "B", "category": "none", "categories": [], "messages": []}
    assert third["category"] == "runtime_error"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "Line 1 is not JSON"),
        ("[1]", "not a JSON object"),
        ('{"text": 3}', "must be strings"),
        ('{"exit_code": "1"}', "whole number"),
    ],
)
def test_bad_rows_are_named(line, words):
    with pytest.raises(ValueError, match=words):
        list(signal_rows([line]))

