"""Words of C++ in a reply that is to be C."""

from __future__ import annotations

import pytest

from agent.c.writing.extract import extract_function
from agent.c.writing.slips.cplusplus_words import without_cplusplus


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("best[j] = std::max(best[j], best[j - w] + v);",
         "best[j] = (best[j] > (best[j - w] + v) ? best[j] : (best[j - w] + v));"),
        ("return min(a, max(b, 0));", "return (a < (b > 0 ? b : 0) ? a : (b > 0 ? b : 0));"),
        ('if (p == nullptr) puts("std::max nullptr");', 'if (p == NULL) puts("std::max nullptr");'),
        ("double d = static_cast<double>(a) / 2;", "double d = (double)(a) / 2;"),
        ("if (a) return { a }; return {0};", "if (a) return (int){ a }; return (int){0};"),
        ("return max(f(a), b++);", "return max(f(a), b++);"),
        ("return max(a, b, c);", "return max(a, b, c);"),
    ],
)  # fmt: skip
def test_it_is_spelled_in_c(written: str, meant: str) -> None:
    text, told = without_cplusplus(f"int f(int a)\n{{\n    {written}\n}}")
    assert text == f"int f(int a)\n{{\n    {meant}\n}}" and bool(told) == (written != meant)


def test_what_the_project_or_the_reply_defines_stays() -> None:
    use = "int f(int a, int b)\n{\n    return max(a, b);\n}"
    assert without_cplusplus(use, ["max"]) == (use, ())
    reply = f"```c\nstatic int max(int a, int b)\n{{\n    return a > b ? a : b;\n}}\n\n{use}\n```"
    taken = extract_function(reply, "int f(int a, int b)")
    assert taken.function_text == use and taken.helpers[0].startswith("static int max") and not taken.repairs
