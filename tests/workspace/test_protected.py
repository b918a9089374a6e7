# ruff: noqa: SIM905
"""Which files are tests, and which others decide whether tests pass, by layouts as projects have them."""

from pathlib import Path

import pytest

from agent.workspace.protected import called_by, decides_tests, is_protected, is_test_file, is_writable

TESTS = """
tests/x.c test/x.py tests/unit/deep/x.py src/tests/x.c testing/x.c unittest/x.c unittests/x.c testsuite/x.exp t/x.c
t/0001-basic.sh spec/a.c spec/models/user_spec.rb __tests__/x.js Tests/x.c src/test.h src/test.c test.py tests.py
test_a.py a_test.py a_tests.py src/ring_tests.py ring_test.c test_ring.c test-ring.c ring-test.c ring_tests.c
ring.test.js check_money.c test_helpers.h testutil.c test_utils.py run_tests.sh conftest.py pkg/conftest.py
examples/test.py TestRing.c RingTest.c TestRing.cpp RingBufferTests.cpp user_spec.rb tests/data/input.txt
test/golden.json tests/README.md
""".split()

CODE = """
src/a.c latest.py contest.c attest.h src/protest.py testing.md fastest.c greatest_common.c inspect.py specs.py
file_spec.py openapi_spec.py check_password.py src/checker.c src/text.c text/x.c transport.c detest.py Latest.c
Contest.java docs/test.md testament.txt src/testify_me_not/x.c tested.c t.c spec.c
""".split()

DECIDING = """
Makefile makefile GNUmakefile sub/CMakeLists.txt rules.mk build/common.mk meson.build cmake/FindX.cmake configure.ac
justfile pyproject.toml setup.cfg tox.ini noxfile.py pytest.ini .coveragerc sitecustomize.py usercustomize.py evil.pth
.gitattributes .gitmodules .github/workflows/ci.yml .circleci/config.yml .gitlab-ci.yml pytest.py pytest/__init__.py
src/unittest.py _pytest/x.py pluggy.py assert.h check.h src/unity.h lib/unity.c cmocka.c fixtures/a.json testdata/in.bin
__snapshots__/a.snap golden/out.txt
""".split()

FREE = """
src/make.c README.md setup.py tasks.py src/config.py requirements.txt assertion.h checks.h docs/index.rst
""".split()


@pytest.mark.parametrize("path", TESTS)
def test_a_test(path: str) -> None:
    assert is_test_file(path) and is_protected(path)


@pytest.mark.parametrize("path", CODE)
def test_no_test(path: str) -> None:
    assert not is_test_file(path) and not is_protected(path)


@pytest.mark.parametrize("path", DECIDING)
def test_what_decides_whether_tests_pass(path: str) -> None:
    assert decides_tests(path) and is_protected(path)


@pytest.mark.parametrize("path", FREE)
def test_what_may_be_changed(path: str) -> None:
    assert not is_protected(path)


def test_a_task_opens_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    assert not is_writable(tmp_path, "pyproject.toml")
    assert is_writable(tmp_path, "pyproject.toml", named=["pyproject.toml"])
    assert is_writable(tmp_path, "lib/tox.ini", named=["tox.ini"]) and not is_writable(
        tmp_path, "xtox.ini/tests/a.c", named=["tox.ini"]
    )
    assert not is_writable(tmp_path, "secret/pyproject.toml", ["secret/"], named=["pyproject.toml"])
    assert not is_writable(tmp_path, ".git/config", named=[".git/config"])


def test_scripts_that_the_test_command_calls(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("tools/run.sh", "tools/other.sh", "compare.pl", "main.c"):
        (tmp_path / name).write_text("#!/bin/sh\n" if name.endswith(".sh") else "int x;\n")
    (tmp_path / "judge").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "Makefile").write_text("test: prog\n\t./judge prog < in\n\tperl compare.pl main.c\nother:\n\techo\n")
    called = called_by(tmp_path, "sh tools/run.sh && make test")
    assert called == {"tools/run.sh", "judge", "compare.pl"}
    assert not is_writable(tmp_path, "judge", called=called) and is_writable(
        tmp_path, "judge", called=called, named=["judge"]
    )
    assert is_writable(tmp_path, "main.c", called=called)
