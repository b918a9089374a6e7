"""Compiler output as logs hold it: stamped, quoted, indented, wrapped, in JSON, and cut at either end."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable

import pytest

from agent.c.project import ProjectFiles
from agent.compiling.build_facts import BuildFacts
from agent.compiling.classifying.deterministic import deterministic_check
from agent.compiling.reading.log_lines import plain_text
from agent.compiling.reading.structured import read_output
from agent.compiling.reading.truncation import cut_before, cut_off, cut_within, gave_up

MAIN = """int code(void)
{
    return EXIT_FAILURE;
}

int letters(const char *t)
{
    return (int)strlen(t);
}

double root(double v)
{
    return sqrt(v);
}
"""
LOG = """main.c: In function ‘code’:
main.c:3:12: error: ‘EXIT_FAILURE’ undeclared (first use in this function)
    3 |     return EXIT_FAILURE;
      |            ^~~~~~~~~~~~
main.c:3:12: note: each undeclared identifier is reported only once for each function it appears in
main.c: In function ‘letters’:
main.c:8:17: warning: implicit declaration of function ‘strlen’ [-Wimplicit-function-declaration]
    8 |     return (int)strlen(t);
      |                 ^~~~~~
"""
BOTH = ("stdlib.h", "string.h")


def headers(log: str, main: str = MAIN, **files: str) -> tuple[str, ...]:
    sources = {"main.c": main, **{k.replace("__", "/").replace("_h", ".h"): v for k, v in files.items()}}
    found = deterministic_check(log, ProjectFiles({k: v.encode() for k, v in sources.items()}), "main.c").classification
    return found.headers if found and found.category == "missing_include" else ()


def each_line(front: Callable[[int], str]) -> str:
    return "".join(f"{front(n)}{line}\n" for n, line in enumerate(LOG.splitlines()))


@pytest.mark.parametrize(
    "log",
    [
        each_line(lambda n: f"2026-01-15T10:21:33.{n:07d}Z "),
        each_line(lambda n: f"#12 0.{n}31 "),
        each_line(lambda n: f"12:03:{n:02d}  "),
        each_line(lambda n: f"[2026-01-03 12:03:{n:02d}] "),
        each_line(lambda n: "cargo:warning="),
        each_line(lambda n: "warning: zsys@0.1.0: "),
        each_line(lambda n: "app_1  | "),
        each_line(lambda n: "> "),
        each_line(lambda n: "\t"),
        each_line(lambda n: "    "),
        "  error: subprocess-exited-with-error\n  \n  exit code: 1\n" + textwrap.indent(LOG, "      "),
        "```\n$ make\ncc -c main.c\n" + LOG + "make: *** [main.o] Error 1\n```\n",
        LOG.replace("\n", "\r\n"),
        LOG.replace("main.c:", "/data/a:b/main.c:"),
        LOG.replace("main.c:", "/home/jo doe/My Project (2)/main.c:"),
    ],
)
def test_what_stands_in_front_of_lines_is_no_part_of_them(log: str) -> None:
    assert headers(log) == BOTH


def test_output_that_only_looks_prefixed_stays_as_it_is() -> None:
    same = "main.c:3:12: error: unknown type name 'a'\nmain.c:3:12: error: unknown type name 'b'\n"
    assert plain_text(same) == same
    assert plain_text("[ 50%] Building C object a.o\n" + same).endswith(same)


def test_messages_broken_by_a_narrow_terminal_are_joined() -> None:
    wrapped = "main.c:8:17: warning: implicit declaration of \n   function ‘strlen’ [\n   -Wimplicit-function-declaration]\n"
    [d] = read_output(wrapped + "    8 |     return (int)strlen(t);\n      |                 ^~~~~~\n")
    assert d.message.endswith("function ‘strlen’") and d.option == "implicit-function-declaration"
    assert d.source_line.strip() == "return (int)strlen(t);"


def gcc_item(line: int, message: str, kind: str = "error") -> dict[str, object]:
    caret = {"file": "main.c", "line": line, "column": 12}
    return {"kind": kind, "message": message, "locations": [{"caret": caret}], "children": [], "option": ""}


def test_json_within_a_log_is_read_and_the_rest_too() -> None:
    items = json.dumps([gcc_item(3, "‘EXIT_FAILURE’ undeclared"), gcc_item(8, "implicit declaration of function ‘strlen’")])
    assert headers(items + "\n") == BOTH
    assert headers(f"cc -c main.c\n{items}\nmake: *** [main.o] Error 1\n") == BOTH
    assert headers(items[: items.index("strlen")]) == ("stdlib.h",)
    linked = read_output("[]\n/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x9): undefined reference to `go'\n")
    assert [d.message for d in linked] == ["undefined reference to `go'"]


def test_a_sarif_log_is_read_and_what_clang_says_of_its_format_is_not() -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "file:///p/main.c"}, "region": {"startLine": 8}}}
    result = {"level": "error", "message": {"text": "call to undeclared function 'strlen'"}, "locations": [place]}
    log = "clang-19: warning: diagnostic formatting in SARIF mode is currently unstable [-Wsarif-format-unstable]\n"
    found = read_output(log + json.dumps({"runs": [{"results": [result]}]}) + "\n1 error generated.\n")
    assert [(d.line, d.message) for d in found] == [(8, "call to undeclared function 'strlen'")]
    whole = json.dumps({"runs": [{"results": [result, result]}]})
    assert len(read_output(whole[: whole.rindex("message")])) == 1


@pytest.mark.parametrize(
    "other",
    [
        '{"runs": [1, null]}',
        '[{"message": 3, "children": 4, "locations": "x"}]',
        '[{"kind": {}, "children": [[]]}]',
        '{"":' + "[" * 99999,
    ],
)
def test_json_of_other_tools_does_no_harm(other: str) -> None:
    assert headers(f"{other}\n{LOG}") == BOTH


def test_names_behind_the_end_of_a_log_or_of_the_compilers_patience_are_foreseen() -> None:
    first = "".join(LOG.splitlines(keepends=True)[:4])
    assert headers(first) == ("stdlib.h",)
    stopped = first + "compilation terminated due to -fmax-errors=1.\n"
    limit = first + "fatal error: too many errors emitted, stopping now [-ferror-limit=]\n"
    within_a_line = LOG[: LOG.index("strlen") + 2]
    left_out = "\n".join([*LOG.splitlines()[:4], "... [truncated] ...", *LOG.splitlines()[-2:]])
    for log in (stopped, limit, within_a_line):
        assert set(headers(log)) == {*BOTH, "math.h"}, log
    assert headers(left_out) == ("stdlib.h",)


def test_a_log_that_lost_its_beginning() -> None:
    rest = "    3 |     return EXIT_FAILURE;\n      |            ^~~~~\n" + LOG[LOG.index("main.c: In function ‘letters’") :]
    assert cut_before(rest) and cut_before("DE’ undeclared (first use)\nmain.c:3:1: error: x\n")
    assert not cut_before(LOG) and not cut_before("cc -c main.c\n" + LOG)
    assert set(headers(rest)) == set(BOTH)


def test_signs_of_an_early_end() -> None:
    assert gave_up("compilation terminated due to -Wfatal-errors.\n") and not gave_up(LOG)
    assert cut_off(LOG[:-20]) and not cut_off(LOG) and not cut_off(LOG.strip()) and not cut_off("")
    assert cut_within("a.c:1:1: error: x\n... 40 lines omitted\nb") and not cut_within("a.c:1:1: error: expected '...'\n")


WRAPPER = "#ifndef PORT_H\n#define PORT_H\n#ifdef _WIN32\n#define strcasecmp stricmp\n#endif\n#endif\n"


def implicit(name: str, line: int = 4) -> str:
    return f"main.c:{line}:12: warning: implicit declaration of function '{name}' [-Wimplicit-function-declaration]\n"


def test_a_part_for_another_system_declares_nothing_here() -> None:
    main = '#include "port.h"\nint f(const char *a)\n{\n    return strcasecmp(a, "x");\n}\n'
    assert headers(implicit("strcasecmp"), main, port_h=WRAPPER) == ("strings.h",)


def test_a_header_of_the_project_that_defines_the_feature_macro_comes_first() -> None:
    main = '#include <string.h>\nchar *f(const char *a)\n{\n    return strdup(a);\n}\n'
    files = {"main.c": main.encode(), "fmacros.h": b"#define _POSIX_C_SOURCE 200809L\n"}
    project = ProjectFiles(files)
    found = deterministic_check(implicit("strdup"), project, "main.c", facts=BuildFacts.of(["-std=c99"])).classification
    assert found and found.headers == ("fmacros.h",) and found.includes[0].before_line == 1


def test_functions_declared_below_their_use_and_in_their_own_header() -> None:
    main = "int f(void)\n{\n    int a;\n    return home(a);\n}\nint home(int a)\n{\n    return a;\n}\n"
    assert headers(implicit("home"), main, home_h="int home(int a);\n") == ("home.h",)
    assert headers(implicit("home"), main) == ()


def test_a_declaration_within_a_macro_is_seen() -> None:
    header = "#define EXPORT(d) static d\nEXPORT(void heap_init(struct heap *h)) {\n    h->n = 0;\n}\n"
    main = "void f(void *h)\n{\n\n    heap_init(h);\n}\n"
    assert headers(implicit("heap_init"), main, heap_h=header) == ("heap.h",)


def test_a_call_taken_for_int_without_a_word() -> None:
    main = "char *f(const char *a)\n{\n    char *p;\n    p = strchr(a, 'x');\n    return p;\n}\n"
    message = "assignment to 'char *' from 'int' makes pointer from integer without a cast"
    log = f"main.c:4:7: warning: {message} [-Wint-conversion]\n"
    assert headers(log, main) == ("string.h",)
    assert headers(log, "#include <string.h>\n" + main) == ()


def test_a_name_that_the_compiler_proposes_is_not_missing() -> None:
    log = "main.c:4:5: error: unknown type name 'sizet'; did you mean 'size_t'?\n    4 |     sizet n;\n      |     ^~~~~\n"
    assert headers(log, "#include <stdio.h>\nint f(void)\n{\n    sizet n;\n}\n") == ()
    log = log.replace("; did you mean 'size_t'?", "; meinten Sie 'size_t'?")
    assert headers(log, "#include <stdio.h>\nint f(void)\n{\n    sizet n;\n}\n") == ()


def test_one_header_serves_for_what_it_brings_along() -> None:
    main = '#include <stdio.h>\nvoid f(void)\n{\n    uint64_t w = 1;\n    printf("%" PRIu64, w);\n}\n'
    log = "main.c:4:5: error: unknown type name 'uint64_t'\nmain.c:5:16: error: expected ')' before 'PRIu64'\n"
    assert headers(log, main) == ("inttypes.h",)


@pytest.mark.parametrize("word", ["and", "or", "not", "xor"])
def test_words_of_iso646(word: str) -> None:
    log = f"main.c:3:14: error: expected ';' before '{word}'\n    3 |     return a {word} b;\n      |             ^~~\n"
    assert headers(log, f"int f(int a, int b)\n{{\n    return a {word} b;\n}}\n") == ("iso646.h",)
