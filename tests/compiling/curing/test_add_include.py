"""The function by which every recovery puts an include into a file."""

import os
import stat
from pathlib import Path

import pytest

from agent.c.project import ProjectFiles
from agent.compiling.curing.add_include import add_include_to_file


def test_the_file_and_what_is_known_of_it_change_together(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#include <stdio.h>\nint f(void) { return (int)strlen(\"x\"); }\n")
    project = ProjectFiles.at(tmp_path)
    edit = add_include_to_file("a.c", "string.h", project, system=True)
    assert (edit.line, edit.text, edit.changed) == (2, "#include <string.h>", True)
    assert (tmp_path / "a.c").read_bytes() == project.source("a.c")
    assert project.is_active("a.c", "string.h")
    assert not add_include_to_file("a.c", "string.h", project, system=True).changed


def test_a_file_that_is_not_the_projects_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"other\.c is not a file of the project"):
        add_include_to_file("other.c", "string.h", ProjectFiles.at(tmp_path), system=True)


def test_mode_and_links_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "real.c"
    real.write_bytes(b"int f;\n")
    real.chmod(0o640)
    (tmp_path / "link.c").symlink_to(real)
    assert add_include_to_file("link.c", "a.h", ProjectFiles.at(tmp_path), system=False).changed
    assert (tmp_path / "link.c").is_symlink() and real.read_bytes() == b'#include "a.h"\nint f;\n'
    assert stat.S_IMODE(os.stat(real).st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.c", "real.c"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"open.h": "#pragma pack(push, 1)\n", "close.h": "#pragma pack(pop)\n",
             "a.c": '#include "open.h"\nstruct s { char c; int n; };\n#include "close.h"\nint f;\n'},
            '#include <stdio.h>\n#include "open.h"\n',
        ),
        (
            {"wire.h": '#include "open.h"\nstruct s { char c; int n; };\n', "open.h": "#pragma pack(1)\n",
             "a.c": '#include "wire.h"\nint f;\n'},
            '#include <stdio.h>\n#include "wire.h"\n',
        ),
        (
            {"own.h": "#define _GNU_SOURCE\n", "a.c": '#include "own.h"\n\nint f;\n'},
            '#include "own.h"\n#include <stdio.h>\n',
        ),
        ({"a.c": "#pragma GCC visibility push(hidden)\nint f;\n#pragma GCC visibility pop\n"}, "#include <stdio.h>\n"),
        ({"a.c": "#pragma GCC diagnostic push\n#include <a.h>\n#pragma GCC diagnostic pop\n"}, "#include <stdio.h>\n"),
        ({"a.c": "#ifdef _MSC_VER\n#pragma pack(push, 1)\n#endif\nint f;\n"}, "#include <stdio.h>\n#ifdef _MSC_VER"),
        ({"a.c": '#ifdef __cplusplus\nextern "C" {\n#endif\nint f;\n'}, "#include <stdio.h>\n#ifdef __cplusplus"),
        ({"a.c": '#include <a.h>\n#define X(n) n,\n#include "list.def"\n#undef X\n'}, "#include <a.h>\n#include <stdio.h>"),
        ({"a.c": "#ifdef HAVE_CONFIG_H\n# include <config.h>\n#endif\n\nint f;\n"}, None),
        ({"a.c": "#pragma once\n#ifndef A\n#define A\n#define _GNU_SOURCE\n\nint f;\n#endif\n"}, None),
        ({"a.c": "/* Copyright X */\n\n/* What this file is for. */\n\nint f;\n"}, None),
    ],
)  # fmt: skip
def test_a_system_header_stays_out_of_regions_and_below_configuration(
    tmp_path: Path, files: dict[str, str], expected: str | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    project = ProjectFiles.at(tmp_path)
    add_include_to_file("a.c", "stdio.h", project, system=True, before_line=len(files["a.c"].split("\n")))
    text = (tmp_path / "a.c").read_text()
    if expected is not None:
        assert text.startswith(expected)
    else:
        assert text.index("#include <stdio.h>") > max(text.rfind(w) for w in ("#endif\n\n", "_GNU_SOURCE", "for. */"))
        assert text.index("#include <stdio.h>") < text.index("int f")
