"""Why a compile failed, from facts alone."""

from __future__ import annotations

import pytest

from tests.compiling.helpers import check


def verdict(stderr: str, **files: str) -> tuple[str, tuple[str, ...]]:
    found = check(stderr, **files).classification
    assert found is not None
    return found.category, found.headers


def undeclared(name: str, line: int = 1) -> str:
    return f"main.c:{line}:9: error: '{name}' undeclared (first use in this function)\n"


def implicit(name: str, line: int = 1) -> str:
    return f"main.c:{line}:9: error: implicit declaration of function '{name}' [-Wimplicit-function-declaration]\n"


def test_the_plainest_examples() -> None:
    main = "int main(void) { return 0; }\n"
    assert verdict(implicit("printf"), main_c=main) == ("missing_include", ("stdio.h",))
    assert verdict(implicit("malloc"), main_c=main) == ("missing_include", ("stdlib.h",))
    assert verdict("main.c:1:1: error: unknown type name 'uint32_t'\n", main_c=main) == (
        "missing_include",
        ("stdint.h",),
    )
    assert verdict("main.c:1:9: error: use of undeclared identifier 'INT_MAX'\n", main_c=main) == (
        "missing_include",
        ("limits.h",),
    )


def test_the_classification_keeps_the_raw_error_and_the_ladder() -> None:
    found = check(implicit("strlen"), main_c="int f;\n").classification
    assert found is not None and found.raw_error == implicit("strlen") and found.suggested_include == "string.h"
    assert found.path[-1].how == "deterministic" and "<string.h>" in found.path[-1].answer
    assert "string.h" in (found.diagnostic_context or "")


def test_every_symptom_counts_not_only_the_first() -> None:
    text = implicit("no_such_helper") + implicit("strlen") + undeclared("INT_MAX")
    category, headers = verdict(text, main_c="int f;\n")
    assert category == "missing_include" and set(headers) == {"string.h", "limits.h"}


def test_one_header_serves_several_names() -> None:
    text = "main.c:1:1: error: unknown type name 'size_t'\n" + implicit("strlen") + undeclared("NULL")
    assert verdict(text, main_c="int f;\n") == ("missing_include", ("string.h",))


def test_a_project_header_in_quotes_and_by_its_place() -> None:
    found = check(implicit("rb_new"), main_c="int f;\n", ring_h="struct rb *rb_new(int n);\n").classification
    assert found is not None and found.includes[0].text == '#include "ring.h"'


def test_the_fix_belongs_where_the_use_is() -> None:
    text = "In file included from main.c:1:\n./vec.h:2:10: error: unknown type name 'size_t'\n"
    found = check(text, main_c='#include "vec.h"\n', vec_h="#pragma once\nstruct v { size_t n; };\n").classification
    assert found is not None and found.includes[0].file == "vec.h"


@pytest.mark.parametrize(
    "dead", ["// #include <string.h>\n", "#if 0\n#include <string.h>\n#endif\n", "/* #include <string.h> */\n"]
)
def test_a_dead_include_is_not_there(dead: str) -> None:
    assert verdict(implicit("strlen", 9), main_c=dead)[0] == "missing_include"


def test_a_live_include_and_still_undeclared_is_a_build_setting() -> None:
    found = check(implicit("strdup", 3), "-std=c99", main_c="#include <string.h>\nchar *s;\n").classification
    assert found is not None and found.category == "logic_error" and found.flag == "-D_POSIX_C_SOURCE=200809L"
    assert "feature-test macro" in (found.diagnostic_context or "")
    found = check(implicit("asprintf", 3), main_c="#include <stdio.h>\nchar *s;\n").classification
    assert found is not None and found.category == "logic_error" and found.flag == "-D_GNU_SOURCE"


def test_a_feature_macro_in_force_is_seen() -> None:
    main = "#define _GNU_SOURCE\n#include <string.h>\n"
    assert verdict(implicit("asprintf", 3), main_c=main) == ("missing_include", ("stdio.h",))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("exp", "    total = total * exp;"),
        ("time", "    return 2 + time;"),
        ("index", "    return a[index];"),
        ("signal", "    if (signal > 3)"),
    ],
)
def test_a_forgotten_local_with_a_library_name_is_no_missing_include(name: str, line: str) -> None:
    text = f"main.c:2:9: error: '{name}' undeclared (first use in this function)\n    2 | {line}\n"
    assert verdict(text, main_c=f"int f(void) {{\n{line}\n}}\n")[0] == "logic_error"


def test_a_callback_is_one() -> None:
    line = "    sort_by(a, n, strcmp);"
    text = f"main.c:2:9: error: 'strcmp' undeclared (first use in this function)\n    2 | {line}\n"
    assert verdict(text, main_c=f"int f(void) {{\n{line}\n}}\n") == ("missing_include", ("string.h",))


def test_misspelt_means_no_header_declares_it_and_a_close_name_is_in_scope() -> None:
    text = "main.c:3:5: error: implicit declaration of function 'pritnf'; did you mean 'printf'?\n"
    assert verdict(text, main_c="#include <stdio.h>\n")[0] == "logic_error"
    text = "main.c:3:5: error: implicit declaration of function 'read'; did you mean 'fread'?\n"
    assert verdict(text, main_c="#include <stdio.h>\n") == ("missing_include", ("unistd.h",))


def test_a_project_function_used_above_its_definition() -> None:
    main = "int f(double v) { return round(v); }\nint round(double v) { return (int)v; }\n"
    assert verdict(implicit("round"), main_c=main)[0] == "logic_error"


def test_signatures() -> None:
    header = "int push(int *s, int v);\n"
    text = "main.c:2:6: error: conflicting types for 'push'; have 'void(int *, int)'\n"
    found = check(text, main_c='#include "s.h"\nvoid push(int *s, int v) {}\n', s_h=header).classification
    assert found is not None and (found.category, found.symbol) == ("signature_mismatch", "push")
    for message in (
        "too few arguments to function 'push'",
        "too many arguments to function call, expected 2, have 3",
        "incompatible type for argument 1 of 'push'",
        "passing argument 1 of 'push' from incompatible pointer type",
        "incompatible pointer types passing 'long *' to parameter of type 'int *'",
    ):
        assert verdict(f"main.c:2:6: error: {message}\n", main_c="int f;\n")[0] == "signature_mismatch", message
    assert verdict("main.c:2:6: error: incompatible types in assignment\n", main_c="int f;\n")[0] == "logic_error"


def test_missing_definitions() -> None:
    main = "int g(void);\nint main(void) { return g(); }\n"
    found = check("/usr/bin/ld: main.c:(.text+0x5): undefined reference to `g'\n", main_c=main).classification
    assert found is not None and (found.category, found.symbol) == ("missing_definition", "g")
    text = "main.c:2:30: error: invalid use of undefined type 'struct tree'\n"
    assert verdict(text, main_c="struct tree;\nint f(struct tree *t) { return t->n; }\n")[0] == "missing_definition"
    text = "main.c:1:12: error: 'sum' used but never defined [-Werror]\n"
    assert verdict(text, main_c="static int sum(int);\n")[0] == "missing_definition"


@pytest.mark.parametrize(
    ("symbol", "main", "flag"),
    [
        ("sqrt", "#include <math.h>\n", "-lm"),
        ("pthread_create", "#include <pthread.h>\n", "-pthread"),
        ("gzopen", "#include <zlib.h>\n", "-lz"),
        ("__asan_report_load4", "", "-fsanitize=address"),
        ("main", "", ""),
        ("twice", "inline int twice(int x) { return 2 * x; }\nint use(void) { return twice(1); }\n", ""),
    ],
)
def test_a_link_error_that_is_no_missing_definition(symbol: str, main: str, flag: str) -> None:
    found = check(f"/usr/bin/ld: main.c:(.text+0x5): undefined reference to `{symbol}'\n", main_c=main).classification
    assert found is not None and (found.category, found.flag) == ("logic_error", flag)


def test_a_file_that_was_left_out_of_the_link() -> None:
    text = "/usr/bin/ld: main.c:(.text+0x5): undefined reference to `g'\n"
    found = check(text, main_c="int g(void);\n", other_c="int g(void) { return 1; }\n").classification
    assert found is not None and found.category == "logic_error" and "other.c" in (found.diagnostic_context or "")


def test_errors_decide_before_warnings() -> None:
    text = (
        "main.c:2:5: warning: implicit declaration of function 'puts' [-Wimplicit-function-declaration]\n"
        "main.c:4:5: error: conflicting types for 'f'; have 'void(int)'\n"
    )
    assert verdict(text, main_c="int f(int);\n")[0] == "signature_mismatch"


def test_a_missing_file_is_a_build_setting_or_a_misspelling() -> None:
    text = "main.c:1:10: fatal error: config.h: No such file or directory\n"
    found = check(text, main_c='#include "config.h"\n', **{"include/config_h": "#define A 1\n"}).classification
    assert found is not None and found.category == "logic_error" and found.flag == "-Iinclude"


def test_what_no_fact_explains_is_left_open() -> None:
    assert check(implicit("frobnicate_widget"), main_c="int f;\n").classification is None
    assert check("", main_c="int f;\n").classification is None


def test_tcc_stops_at_the_first_error_and_all_headers_are_named() -> None:
    main = "long f(char *s) { time_t t = time(0); return t + (long)strlen(s) + INT_MAX; }\n"
    found = check("main.c:1: error: 'time_t' undeclared\n", compiler="tcc", main_c=main).classification
    assert found is not None and set(found.headers) == {"time.h", "string.h", "limits.h"}


def test_an_internal_home_is_never_proposed() -> None:
    text = "main.c:1:9: error: 'errno' undeclared\nmain.c:1:1: note: 'errno' is defined in header '<sys/errno.h>'\n"
    assert verdict(text, main_c="int f;\n") == ("missing_include", ("errno.h",))


def test_a_function_given_to_printf_is_a_value() -> None:
    line = '    printf("%d", index);'
    text = f"main.c:3:18: error: 'index' undeclared (first use in this function)\n    3 | {line}\n"
    assert verdict(text, main_c=f"#include <stdio.h>\nvoid f(void) {{\n{line}\n}}\n")[0] == "logic_error"


def test_names_on_a_broken_line_are_foreseen_but_not_the_projects_own() -> None:
    line = "struct entry { char *s; time_t when; size_t n; };"
    text = f"main.c:1:25: error: unknown type name 'time_t'\n    1 | {line}\n"
    category, headers = verdict(text, main_c=f"{line}\n")
    assert category == "missing_include" and "search.h" not in headers and "time.h" in headers


def test_built_in_functions_called_without_their_header() -> None:
    text = "main.c:1:9: warning: incompatible implicit declaration of built-in function 'exit' [enabled by default]\n"
    assert verdict(text, main_c="void f(void) { exit(1); }\n") == ("missing_include", ("stdlib.h",))


def test_the_two_extra_lines_of_old_gcc_say_nothing() -> None:
    text = (
        "main.c: In function 'f':\nmain.c:1: error: 'count' undeclared (first use in this function)\n"
        "main.c:1: error: (Each undeclared identifier is reported only once\n"
        "main.c:1: error: for each function it appears in.)\n"
    )
    found = check(text, main_c="int f(void) { return count; }\n")
    assert (
        found.classification is not None and found.classification.category == "logic_error" and len(found.diagnostics) == 1
    )


def test_a_name_of_cpp_and_an_extension_under_a_strict_standard() -> None:
    found = check("/usr/bin/ld: a.o: in function `main': undefined reference to `_Z1fv'\n", main_c="int f;\n").classification
    assert found is not None and found.category == "logic_error" and 'extern "C"' in (found.diagnostic_context or "")
    found = check(implicit("asm"), "-std=c99", main_c="int f;\n").classification
    assert found is not None and (found.category, found.flag) == ("logic_error", "-std=gnu17")


def test_headers_that_are_there_but_say_nothing() -> None:
    guard = "#ifndef U_H\n#define U_H\nint {name}(int);\n#endif\n"
    main = '#include "a.h"\n#include "b.h"\n'
    clash = check(implicit("bfun", 3), main_c=main, a_h=guard.format(name="afun"), b_h=guard.format(name="bfun"))
    hidden = check(implicit("extra", 3), main_c=main, a_h="#ifdef WITH\nint extra(int);\n#endif\n")
    shadowed = check(implicit("strlen", 3), main_c="#include <string.h>\n", string_h="int ours;\n")
    for found in (clash, hidden, shadowed):
        assert found.classification is not None and found.classification.category == "logic_error"
        assert found.classification.diagnostic_context


def test_a_header_below_an_include_folder_is_named_from_it() -> None:
    header = {"include/util_h": "int util_sum(int, int);\n"}
    for flags, text in (("-Iinclude", '#include "util.h"'), ("", '#include "include/util.h"')):
        found = check(implicit("util_sum"), flags, main_c="int f;\n", **header).classification
        assert found is not None and found.includes[0].text == text


def test_one_slip_in_a_library_name_is_a_misspelling_whatever_is_included() -> None:
    assert verdict(implicit("pritnf"), main_c="int f;\n")[0] == "logic_error"
    assert verdict(implicit("mallloc"), main_c="int f;\n")[0] == "logic_error"


@pytest.mark.parametrize(
    ("line", "column", "message", "header"),
    [
        ("enum token { OPEN, EOF, CLOSE };", 20, "expected identifier before '(' token", "stdio.h"),
        ("    HUGE_VAL,", 5, "expected identifier", "math.h"),
        ("int isblank(const char *s) { return *s == ' '; }", 5, "expected expression before ')' token", "ctype.h"),
        ("struct node { int errno; };", 19, "field '__errno_location' declared as a function", "errno.h"),
        ("double f(double I) { return I; }", 17, "expected ')' before '__extension__'", "complex.h"),
        ("typedef enum { false, true } bool;", 16, "expected identifier before numeric constant", "stdbool.h"),
    ],
)
def test_a_name_that_a_macro_of_a_header_took(line: str, column: int, message: str, header: str) -> None:
    text = f"main.c:2:{column}: error: {message}\n    2 | {line}\n"
    found = check(text, main_c=f"#include <{header}>\n{line}\n").classification
    assert found is not None and found.category == "logic_error"
    assert f"is a macro where <{header}> is included" in (found.diagnostic_context or "")
    other = check(text, main_c=f"\n{line}\n").classification
    assert other is None or "is a macro" not in (other.diagnostic_context or ""), "the header is not included"


@pytest.mark.parametrize("line", ["int x(FILE *p) { if (p EOF) return 1; return 2; }", "int x(int p) { return p EOF; }"])
def test_a_macro_that_is_used_is_no_name_that_was_taken(line: str) -> None:
    text = f"main.c:2:{line.index('EOF') + 1}: error: expected ')' before numeric constant\n    2 | {line}\n"
    found = check(text, main_c=f"#include <stdio.h>\n{line}\n").classification
    assert found is not None and "is a macro" not in (found.diagnostic_context or "")


def test_a_header_that_the_platform_dropped_is_no_misspelling() -> None:
    text = "main.c:1:10: fatal error: sys/sysctl.h: No such file or directory\n"
    found = check(text, main_c="#include <sys/sysctl.h>\n").classification
    assert found is not None and "/proc/sys" in (found.diagnostic_context or "")


def test_all_names_that_the_platform_dropped_are_named() -> None:
    said = "invalid use of undefined type"
    text = f"main.c:1:9: error: {said} 'struct siginfo'\nmain.c:2:9: error: {said} 'struct ucontext'\n"
    found = check(text, main_c="int a;\nint b;\n").classification
    assert found is not None and found.category == "logic_error"
    assert all(name in (found.diagnostic_context or "") for name in ("siginfo_t", "ucontext_t"))


def test_a_type_that_the_library_defines_too_in_clangs_words() -> None:
    text = (
        "main.c:2:14: error: typedef redefinition with different types ('long' vs '__uint64_t' (aka 'unsigned long'))\n"
        "typedef long uint64_t;\n             ^\n"
        "/usr/include/x86_64-linux-gnu/bits/stdint-uintn.h:27:20: note: previous definition is here\n"
    )
    found = check(text, main_c="#include <stdint.h>\ntypedef long uint64_t;\n").classification
    assert found is not None and found.symbol == "uint64_t"
    assert "<stdint.h> defines the type `uint64_t` already" in (found.diagnostic_context or "")
