"""Functions beyond the standard library: calls of them are changed, and what they come to is compiled and run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent.c.writing.beyond_standard import OWN, with_own_functions
from agent.c.writing.extract import Extracted

MAIN = """#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

{0}

int main(void)
{{
    char text[] = "ab, Cd";
    {1}
    return text[0] == 0;
}}
"""


@pytest.mark.parametrize(
    ("statement", "printed"),
    [
        ('puts(strdup("a, (b"));', "a, (b"),
        ('puts(strndup("abcd", 2)); puts(strndup("a", 2));', "ab\na"),
        ('printf("%d", strcasecmp("aB", "Ab") == 0 && strcasecmp("a", "ab") < 0);', "1"),
        ('printf("%d", stricmp(text, "AB, cd"));', "0"),
        ('printf("%d", strncasecmp("aBc", "AbD", 2) == 0 && strncasecmp("aBc", "AbD", 3) != 0);', "1"),
        ("puts(strlwr(text)); puts(strupr(text)); puts(strrev(text));", "ab, cd\nAB, CD\nDC ,BA"),
        ('printf("%d", (int)(strnlen("abc", 2) + strnlen("a", 2)));', "3"),
    ],
)
def test_what_the_standard_lacks_is_done_by_a_helper(tmp_path: Path, statement: str, printed: str) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    names = sorted(set(re.findall(r"str\w+", statement)))
    done = with_own_functions(Extracted(statement), names)
    (tmp_path / "m.c").write_text(MAIN.format("\n\n".join(done.helpers), done.function_text))
    strict = ["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-o", "m", "m.c"]
    built = subprocess.run(strict, cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([tmp_path / "m"], capture_output=True, text=True)
    assert ran.stdout.strip() == printed


def test_what_is_called_alike_stays() -> None:
    kept = Extracted("int f(void)\n{\n    return my_strdup(a) + s.strdup(b) + strdup_all(c);\n}")
    assert with_own_functions(kept, ["strdup", "other"]).function_text == kept.function_text
    copied = with_own_functions(Extracted("a = strdup(b);"), ["strdup"], known={"copy_text_part"})
    assert copied == Extracted("a = copy_text_part(b, (size_t)-1);")
    assert all(own.name in own.text for own in OWN.values())
