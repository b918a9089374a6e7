"""Results that the caller frees and that are not from the heap."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent.c.ownership import freed_results
from agent.c.writing.slips.borrowed_result import with_owned_results

USE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
{function}
int main(void)
{{
    for (int n = 0; n < 3; n++) {{
        char *got = name(n);
        puts(got);
        free(got);
    }}
    return 0;
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        'return n == 0 ? "" : n == 1 ? "one" : "many";',
        'if (n > 1)\n        return ("many");\n    static char made[8] = "";\n'
        '    snprintf(made, sizeof made, "%s", n ? "one" : "");\n    return made;',
        'char made[4 + 4];\n    snprintf(made, sizeof(made), "%s", n ? n == 1 ? "one" : "many" : "");\n    return made;',
    ],
)  # fmt: skip
def test_what_is_returned_can_be_freed(tmp_path: Path, body: str) -> None:
    text, told = with_owned_results(f"char *name(int n)\n{{\n    {body}\n}}")
    assert told
    (tmp_path / "a.c").write_text(USE.format(function=text))
    flags = ["-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    subprocess.run(["gcc", *flags, "a.c", "-o", "a"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "\none\nmany\n"), done.stderr


@pytest.mark.parametrize(
    "body",
    [
        'char *made = malloc(4);\n    strcpy(made, "one");\n    return made;',
        'char made[] = "one";\n    return made;',
        "return other(n);",
    ],
)
def test_what_is_from_the_heap_or_not_certain_stays(body: str) -> None:
    text = f"char *name(int n)\n{{\n    {body}\n}}"
    assert with_owned_results(text) == (text, ())


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("char *a = made(1); use(a); free(a);", {"made"}),
        ("char *a; a = (char *)made(1); free(a);", {"made"}),
        ("free(made(1)); free(box.text);", {"made"}),
        ("char *a = made(1); free(other);", set()),
    ],
)
def test_a_caller_that_frees_a_result_is_seen(body: str, names: set[str]) -> None:
    assert freed_results(f"void t(void) {{ {body} }}".encode()) == names


def test_another_function_may_free_what_a_shared_variable_holds() -> None:
    free = "static char *kept; void after(void) { free(kept); free(own); }"
    assert freed_results(f"{free} void t(void) {{ kept = made(1); own = other(2); }}".encode()) == {"made"}
