"""Compiler and linker output of every maker and language to diagnostics."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.compiling.reading.diagnostics import ordered, parse_text, plain_quotes
from agent.compiling.reading.excerpt import decisive_excerpt
from agent.compiling.reading.structured import parse_gcc_json, parse_sarif
from agent.compiling.reading.symptoms import symptom_of
from agent.log_text import without_escapes

GCC = """main.c: In function ‘f’:
main.c:5:5: error: implicit declaration of function ‘puts’ [-Werror=implicit-function-declaration]
    5 |     puts("x");
      |     ^~~~
main.c:1:1: note: include ‘<stdio.h>’ or provide a declaration of ‘puts’
  +++ |+#include <stdio.h>
    1 | int f(void)
cc1: some warnings being treated as errors
"""


def test_gcc_text_with_its_note_its_fix_and_its_source_line() -> None:
    [d] = parse_text(GCC)
    assert (d.severity, d.file, d.line, d.column) == ("error", "main.c", 5, 5)
    assert d.option == "implicit-function-declaration" and d.includes == ("stdio.h",)
    assert d.source_line.strip() == 'puts("x");' and len(d.notes) == 1


@pytest.mark.parametrize(
    ("text", "kind", "names", "line"),
    [
        ("a.c:3:9: error: 'INT_MAX' undeclared (first use in this function)", "undeclared", ("INT_MAX",), 3),
        (
            "a.c:3:9: Fehler: »INT_MAX« nicht deklariert (erste Verwendung in dieser Funktion)",
            "undeclared",
            ("INT_MAX",),
            3,
        ),
        (
            "a.c:3:9: erreur : « INT_MAX » non déclaré (première utilisation dans cette fonction)",
            "undeclared",
            ("INT_MAX",),
            3,
        ),
        ("a.c:3:9: エラー: ‘INT_MAX’ が宣言されていません (この関数内での最初の使用)", "undeclared", ("INT_MAX",), 3),
        ("a.c:3:9: 错误：‘INT_MAX’未声明(在此函数内第一次使用)", "undeclared", ("INT_MAX",), 3),
        ("a.c:3:9: ошибка: «INT_MAX» не описан (первое использование в этой функции)", "undeclared", ("INT_MAX",), 3),
        ("a.c:3:9: error: use of undeclared identifier 'INT_MAX'", "undeclared", ("INT_MAX",), 3),
        ("a.c:3: error: 'INT_MAX' undeclared", "undeclared", ("INT_MAX",), 3),
        ("a.c(3,9): error: use of undeclared identifier 'INT_MAX'", "undeclared", ("INT_MAX",), 3),
        ("a.c:3: warning: implicit declaration of function 'read'", "implicit", ("read",), 3),
        (
            "a.c:3:9: error: call to undeclared function 'read'; ISO C99 and later do not support",
            "implicit",
            ("read",),
            3,
        ),
        ("a.c:3:9: Warnung: Implizite Deklaration der Funktion »read«", "implicit", ("read",), 3),
        ("a.c:3:1: error: unknown type name 'bool'; did you mean '_Bool'?", "unknown_type", ("bool",), 3),
        ("a.c:3:1: error: conflicting types for 'f'; have 'int(int)'", "conflict", ("f",), 3),
        ("a.c:3:1: Fehler: In Konflikt stehende Typen für »f«", "conflict", ("f",), 3),
        ("a.c:3: error: incompatible types for redefinition of 'f'", "conflict", ("f",), 3),
        ("a.c:3:9: error: too few arguments to function 'f'", "arity", ("f",), 3),
        ("a.c:3:9: erreur: trop peu d'arguments pour la fonction « f »", "arity", ("f",), 3),
        ("a.c:3:9: error: incompatible type for argument 1 of 'area'", "argument", ("area",), 3),
        ("a.c:3:9: error: static declaration of 'f' follows non-static declaration", "linkage", ("f",), 3),
        ("a.c:3:9: error: 'f' used but never defined [-Werror]", "never_defined", ("f",), 3),
        ("a.c:3:9: error: label 'out' used but not defined", "label", ("out",), 3),
        ("a.c:3:9: error: redefinition of 'f'", "redefined", ("f",), 3),
        ("a.c:3:9: error: use of undeclared label 'out'", "label", ("out",), 3),
        ("a.c:3:10: fatal error: foo.h: No such file or directory", "no_file", ("foo.h",), 3),
        ("a.c:3:10: fatal error: 'foo.h' file not found", "no_file", ("foo.h",), 3),
        ("a.c:3: error: include file 'foo.h' not found", "no_file", ("foo.h",), 3),
        ("a.c:3:9: error: 'struct s' has no member named 'b'", "no_member", ("b",), 3),
        ("/usr/bin/ld: /tmp/x.o: in function `main':\na.c:3: undefined reference to `f'", "link_undefined", ("f",), 3),
        ("/usr/bin/ld: a.c:(.text+0x5): undefined reference to `f'", "link_undefined", ("f",), 0),
        ("a.o: In function `main':\na.c:(.text+0x5): undefined reference to `f'", "link_undefined", ("f",), 0),
        ("a.o:a.c:function main: error: undefined reference to 'f'", "link_undefined", ("f",), 0),
        (
            "ld.lld: error: undefined symbol: f\n>>> referenced by a.c:3\n>>>   /tmp/a.o:(main)",
            "link_undefined",
            ("f",),
            3,
        ),
        ("mold: error: undefined symbol: f\n>>> referenced by a.c\n>>>   a.o:(main)", "link_undefined", ("f",), 0),
        ("tcc: error: undefined symbol 'f'", "link_undefined", ("f",), 0),
        (
            'Undefined symbols for architecture arm64:\n  "_f", referenced from:\n      _main in a.o',
            "link_undefined",
            ("f",),
            0,
        ),
        ("a.c:(.text+0xe): nicht definierter Verweis auf »f«", "link_undefined", ("f",), 0),
        ("a.c:(.text+0xe): référence indéfinie vers « f »", "link_undefined", ("f",), 0),
        ("a.o:a.c:(.text+0xe): undefined reference to `__imp_WSAStartup'", "link_undefined", ("WSAStartup",), 0),
        ("a.o:a.c:(.text+0xe): undefined reference to `Sleep@4'", "link_undefined", ("Sleep",), 0),
        (
            "/usr/bin/ld: b.o:(.bss+0x0): multiple definition of `n'; a.o:(.bss+0x0): first defined here",
            "link_multiple",
            ("n",),
            0,
        ),
        ("ld.lld: error: duplicate symbol: n\n>>> defined at a.c\n>>> defined at b.c", "link_multiple", ("n",), 0),
        ("/usr/bin/ld: cannot find -lfoo: No such file or directory", "link_library", ("foo",), 0),
        ("ld.lld: error: unable to find library -lfoo", "link_library", ("foo",), 0),
    ],
)
def test_message_forms(text: str, kind: str, names: tuple[str, ...], line: int) -> None:
    found = [symptom_of(d) for d in parse_text(text)]
    hits = [s for s in found if s.kind == kind]
    assert hits, found
    assert hits[0].names[: len(names)] == names or set(names) <= set(hits[0].names)
    assert hits[0].diagnostic.line == line


def test_summaries_and_context_lines_are_no_diagnostics() -> None:
    assert parse_text("1 error generated.\ncompilation terminated.\ncollect2: error: ld returned 1 exit status\n") == ()
    assert parse_text("In file included from main.c:1:\n                 from b.h:2,\nmain.c: In function 'f':\n") == ()


def test_colour_in_all_its_forms_is_stripped() -> None:
    text = "\x1b[01m\x1b[Kmain.c:5:5:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kx\x1b]8;;http://e\x07[-Wy]\x1b]8;;\x07"
    assert without_escapes(text) == "main.c:5:5: error: x[-Wy]"
    assert parse_text(text)[0].line == 5


def test_quotes_of_all_languages_become_plain() -> None:
    assert plain_quotes("‘a’ `b' »c« «d» “e” 「f」") == "'a' 'b' 'c' 'd' 'e' 'f'"
    assert plain_quotes("« g »") == "'g'"


def test_old_style_source_lines_and_carets() -> None:
    [d] = parse_text("a.c:1:8: error: unknown type name 'u8'\nstatic u8 x;\n       ^\n1 error generated.\n")
    assert d.source_line == "static u8 x;"


def test_errors_come_before_warnings() -> None:
    text = "a.c:1:1: warning: w\na.c:2:1: error: e\na.c:3:1: fatal error: f\n"
    assert [d.severity for d in ordered(parse_text(text))] == ["fatal", "error", "warning"]


def test_the_excerpt_is_centred_on_the_decisive_line() -> None:
    noise = "".join(
        f"a.c:{n}:1: warning: unused variable 'v{n}' [-Wunused-variable]\n   {n} | int v{n};\n" for n in range(1, 90)
    )
    text = noise + "a.c:99:5: error: too few arguments to function 'push'\n   99 | push();\n" + noise
    excerpt = decisive_excerpt(text)
    assert len(excerpt) <= 500 and "too few arguments to function 'push'" in excerpt
    assert decisive_excerpt("short") == "short"


def test_gcc_json_holds_the_fix_and_survives_a_fatal_line_after_it() -> None:
    item = {
        "kind": "error", "message": "'NULL' undeclared", "option": "-Werror=x",
        "locations": [{"caret": {"file": "a.c", "line": 5, "column": 17, "byte-column": 17}}],
        "children": [{"kind": "note", "message": "…", "fixits": [{"string": "#include <stddef.h>\n"}]}],
    }  # fmt: skip
    text = json.dumps([item]) + "\ncompilation terminated.\n"
    found = parse_gcc_json(text)
    assert found is not None and found[0].includes == ("stddef.h",) and (found[0].line, found[0].option) == (5, "x")
    assert parse_gcc_json("cc1: no json here [x]") is None


def test_sarif_after_a_warning_line() -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": 2, "startColumn": 3}}}
    result = {"level": "error", "message": {"text": "use of undeclared identifier 'x'"}, "locations": [place]}
    found = parse_sarif("warning: sarif is unstable\n" + json.dumps({"version": "2.1.0", "runs": [{"results": [result]}]}))
    assert found is not None and (found[0].file, found[0].line, found[0].column) == ("a.c", 2, 3)


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for d in parse_text(text):
        symptom_of(d)
    assert len(decisive_excerpt(text, 100)) <= 100 or len(text) <= 100
