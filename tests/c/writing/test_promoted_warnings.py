"""Warnings under -Werror: after the mend gcc and clang accept the function, and it does what it did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.c.writing.slips.promoted_warnings import without_promoted_warnings
from agent.compiling.compiler import Compiler, compile_object

HEAD = "#include <string.h>\n#include <stdlib.h>\nint f(const char *s, int n);\n"
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wmissing-declarations", "-O1")
F = "int f(const char *s, int n)\n{\n"
BODIES = {  # @ stands for F
    "sign": "@\tint found = 0;\n\tfor (int i = 0; i < strlen(s) - 1; i++) found += s[i] == n;\n\treturn found;\n}\n",
    "signs on both sides": "@\tsize_t k = strlen(s);\n\treturn k > n && n < sizeof(int);\n}\n",
    "char index": "@\tint seen[256] = {0};\n\tseen[s[0]] = n;\n\treturn seen[*s];\n}\n",
    "parameter": "@\treturn s[0];\n}\n",
    "variable": "@\tint spare;\n\tint last = 0;\n\tlast = n;\n\treturn s[n];\n}\n",
    "uninitialised": "@\tint k;\n\tif (n > 3) k = s[0];\n\treturn k;\n}\n",
    "freed": "@\tconst char *copy = malloc((size_t)n + strlen(s));\n\tfree(copy);\n\treturn *s;\n}\n",
    "const element": "@\tchar *last[2];\n\tlast[0] = s;\n\tlast[1] = s + n;\n\treturn *last[n > 1];\n}\n",
    "const argument": "static int g(char *at)\n{\n\treturn *at;\n}\n\n@\treturn g(s) + n;\n}\n",
    "const result": "static char *g(const char *at)\n{\n\treturn at;\n}\n\n@\treturn *g(s) + n;\n}\n",
    "more than it holds": "@\tunsigned char k = (unsigned char)(n + s[0]);\n\treturn k > 1000 ? 1 : k;\n}\n",
    "down to zero": "@\tfor (size_t i = strlen(s) - 1; i >= 0; i--)\n\t\tif (s[i] == n) return (int)i;\n\treturn -1;\n}\n",
    "unsigned result": "@\treturn strlen(s) < 0 ? n : 1;\n}\n",
    "static behind": "@\tconst static int k = 3;\n\treturn k + n + s[0];\n}\n",
    "const": "@\tchar *at = s;\n\twhile (*at && *at != n) at++;\n\treturn *at;\n}\n",
    "helper": "int twice(int k)\n{\n\treturn 2 * k;\n}\n\n@\treturn twice(n) + s[0];\n}\n",
    "unused helper": "static int twice(int k)\n{\n\treturn 2 * k;\n}\n\n@\treturn n + s[0];\n}\n",
    "fall through": "@\tswitch (s[0]) {\n\tcase 'a':\n\t\tn++;\n\tcase 'b':\n\t\tn++;\n\t}\n\treturn n;\n}\n",
    "mixed": "@\treturn s[0] && n || s[1] && n > 1;\n}\n",
    "all bits": "@\treturn s[0] + n + (int)((1ULL << 64) - 1ULL) + (int)(((unsigned)1 << 32) - 1);\n}\n",
    "no return": "@\tif (n) return s[0];\n}\n",
}  # fmt: skip


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("kind", BODIES)
async def test_a_promoted_warning_is_set_right(tmp_path: Path, kind: str, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source, path = (HEAD + BODIES[kind].replace("@", F)).encode(), tmp_path / "f.c"
    told: list[str] = []
    for _ in range(3):
        path.write_bytes(source)
        done = await compile_object(Compiler.find(compiler), path, cwd=tmp_path, flags=FLAGS)
        if done.ok:
            break
        source, sentences = without_promoted_warnings(source, done.diagnostics, range(1, 99))
        assert sentences, done.stderr
        told += sentences
    assert done.ok, source.decode()
    assert told or compiler == "clang", "gcc warns of each"


async def test_what_is_no_warning_is_left_alone(tmp_path: Path) -> None:
    source, path = (HEAD + F + "\treturn missing(s);\n}\n").encode(), tmp_path / "f.c"
    path.write_bytes(source)
    done = await compile_object(Compiler.find(), path, cwd=tmp_path, flags=FLAGS)
    assert not done.ok and without_promoted_warnings(source, done.diagnostics, range(1, 99)) == (source, ())
