"""The compiler is shut in as the checks are: what is private to a person does not show in its errors."""

from pathlib import Path

import pytest

from agent.compiling.build import Build
from agent.compiling.compiler import with_source_lines
from agent.values import Diagnostic
from agent.workspace.compiler_walls import shutting_in
from agent.workspace.isolation import isolation

SECRET = "Host hidden-bastion\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "config").write_text(SECRET)
    (home / ".netrc").write_text(SECRET)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.mark.skipif(isolation() not in ("bwrap", "bwrap-net"), reason="bubblewrap does not work here")
@pytest.mark.parametrize(
    "text",
    [
        '#include "{}/.ssh/config"\n',
        '#include "{}/.netrc"\n',
        '#define WHERE "{}/.ssh/config"\n#include WHERE\n',
        '__asm__(".include \\"{}/.ssh/config\\"");\n',
        '#line 1 "{}/.ssh/config"\nint x = y;\n',
    ],
    ids=["include", "file", "macro", "assembler", "line"],
)
async def test_private_files_do_not_show_in_errors(tmp_path: Path, home: Path, text: str) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.c").write_text(text.format(home))
    build = Build(root, shut_in=shutting_in(root))
    outcome = await build.compile("a.c")
    build.close()
    assert not outcome.ok and outcome.diagnostics
    assert "hidden-bastion" not in outcome.stderr + "".join(f"{one.message}{one.source_line}" for one in outcome.diagnostics)


async def test_a_build_that_is_shut_in_compiles_and_links(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "repo"
    (root / "include").mkdir(parents=True)
    (root / "include" / "a.h").write_text("int one(void);\n")
    (root / "a.c").write_text('#include <stdio.h>\n#include "include/a.h"\nint one(void) { return puts(""); }\n')
    build = Build(root, shut_in=shutting_in(root))
    assert (await build.compile("a.c")).ok
    assert (await build.link(["a.c"], shared=True)).ok
    build.close()


def test_a_line_directive_does_not_make_us_read_what_is_no_source(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.c").write_text("int x = y;\n")
    (tmp_path / "other.h").write_text("int other;\n")
    places = (str(home / ".netrc"), str(home / ".ssh/config"), "../home/.netrc", "a.c", str(tmp_path / "other.h"))
    found = with_source_lines([Diagnostic("error", "bad", file=place, line=1) for place in places], root)
    assert [one.source_line for one in found] == ["", "", "", "int x = y;", ""]
