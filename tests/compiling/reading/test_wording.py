"""What compilers say in the languages they speak; the sentences are those of the message catalogues of gcc, ld and gold."""

from __future__ import annotations

import pytest

from agent.compiling.reading.diagnostics import parse_text
from agent.compiling.reading.symptoms import symptom_of
from tests.compiling.helpers import check


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("syntax", "»;« forventet"),
        ("syntax", "verirrtes »\\302« im Programm"),
        ("syntax", "nombres de parámetros (sin tipos) en la declaración de la función"),
        ("syntax", "deux types de données ou plus dans le spécificateur de déclaration"),
        ("syntax", "識別子または ‘(’ が予期されます"),
        ("syntax", "očekivano je „;“"),
        ("syntax", "очекиван је израз"),
        ("syntax", "';' umuluyordu"),
        ("syntax", "мало бути ‘;’"),
        ("syntax", "cần biểu thức"),
        ("syntax", "需要标识符或‘(’"),
        ("syntax", "需要 「;」"),
        ("incomplete", "lagringsstørrelsen af »a« er ikke kendt"),
        ("incomplete", "размер памяти «a» неизвестен"),
        ("incomplete", "2. parametre ('a') tamamlanmamış türde"),
        ("incomplete", "回傳不完全的類型"),
        ("in_parameters", "”struct a” deklarerad inuti parameterlista kommer inte vara synlig utanför denna definition"),
        ("linkage", "Nicht-statische Deklaration von »a« folgt statischer Deklaration"),
        ("linkage", "la déclaration non statique de « a » suit une déclaration statique"),
        ("argument", "passer l'argument 2 de « a » abandonne le qualificatif « const » du type pointé"),
        ("redefined", "重复的成员‘a’"),
        ("redefined", "повторное описание члена «a»"),
        ("no_member", "«a» не содержит элемент с именем «b»; имелось в виду «c»?"),
        ("implicit", "sisäisen funktion ”a” yhteensopimaton implisiittinen esittely"),
        ("unknown_type", "không hiểu kiểu tên “a“; ý bạn là “b“?"),
        ("label", "'a' yaftası tanımlanmadan kullanılmış"),
        ("undeclared", "'strlen' was not declared in this scope"),
        ("other", "несовместимые типы в присваивании типу «a» значения типа «b»"),
    ],
)
def test_the_kind_of_a_message_in_any_language(kind: str, message: str) -> None:
    [d] = parse_text(f"main.c:3:5: error: {message}\n")
    assert symptom_of(d).kind == kind


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        ("/usr/bin/ld: -lfoo が見つかりません", "link_library", "foo"),
        ("/usr/bin/ld: kan ikke finde -lfoo", "link_library", "foo"),
        ("/usr/bin/ld.gold: error: не могу да нађем „-lfoo“", "link_library", "foo"),
        ("main.o:main.c:function main: error: définitions redondantes de « foo »", "link_multiple", "foo"),
        ("/usr/bin/ld: main.c:(.text+0x9): повторне визначення «foo»", "link_multiple", "foo"),
        ("main.c:3:10: fatal error: foo.h: Adresář nebo soubor neexistuje", "no_file", "foo.h"),
        ("main.c:3:10: fatal error: sys/foo.h: Nincs ilyen fájl vagy könyvtár", "no_file", "sys/foo.h"),
    ],
)
def test_linkers_and_missing_files_in_any_language(line: str, kind: str, name: str) -> None:
    [d] = parse_text(line + "\n")
    symptom = symptom_of(d)
    assert (symptom.kind, symptom.names[:1]) == (kind, (name,))


def test_a_proposal_behind_the_semicolon_is_no_name_of_the_complaint() -> None:
    [d] = parse_text("main.c:3:5: Fehler: unbekannter Typname »sizet«; meinten Sie »size_t«?\n")
    assert symptom_of(d).names == ("sizet",)


def test_the_header_that_a_cpp_compiler_names_is_spelled_as_c_does() -> None:
    note = "main.c:1:1: note: 'strlen' is defined in header '<cstring>'; did you forget to '#include <cstring>'?\n"
    found = check("main.c:3:12: error: 'strlen' was not declared in this scope\n" + note, main_c="int f;\n")
    assert found.classification is not None and found.classification.headers == ("string.h",)


def test_a_member_that_is_not_found_behind_a_type_that_is_not_there() -> None:
    main = "int f(const struct item *i)\n{\n    return i->v;\n}\n"
    error = "main.c:3: error: field not found: v\n"
    found = check(error, compiler="tcc", main_c=main, u_h="struct item { int v; };\n").classification
    assert found is not None and found.headers == ("u.h",)
    typo = check(error, compiler="tcc", main_c="struct item { int w; };\n" + main).classification
    assert typo is not None and typo.category == "logic_error"


def test_an_argument_that_is_an_undeclared_call_is_no_mismatch() -> None:
    main = '#include <string.h>\nchar *name(int n);\nint f(void)\n{\n    return strcmp("a", nmae(3));\n}\n'
    log = "main.c:5:24: warning: implicit declaration of function 'nmae' [-Wimplicit-function-declaration]\n"
    wrong = "passing argument 2 of 'strcmp' makes pointer from integer without a cast"
    log += f"main.c:5:24: warning: {wrong} [-Wint-conversion]\n"
    found = check(log, main_c=main).classification
    assert found is None or found.category == "logic_error"
    declared = check(log.split("\n", 1)[1], main_c=main.replace("nmae", "name")).classification
    assert declared is not None and declared.category == "signature_mismatch"


def test_the_first_syntax_error_is_judged_before_what_it_breaks() -> None:
    main = "struct stack\n    int n;\n};\nint f(struct stack *s)\n{\n    return s->n;\n}\n"
    log = "main.c:2:5: error: two or more data types in declaration specifiers\n"
    log += "main.c:6:13: error: invalid use of undefined type 'struct stack'\n"
    found = check(log, main_c=main).classification
    assert found is not None and found.category == "logic_error"


def test_an_argument_whose_type_an_earlier_error_spoiled_is_no_mismatch() -> None:
    main = "typedef struct stack { int n; } Stack;\nint push(Stack *s);\n"
    main += "int f(void)\n{\n    Stak s;\n    return push(&s);\n}\n"
    mismatch = "main.c:6:17: error: passing argument 1 of 'push' from incompatible pointer type\n"
    found = check("main.c:5:5: error: unknown type name 'Stak'\n" + mismatch, main_c=main).classification
    assert found is not None and (found.category, found.symbol) == ("logic_error", "Stak")
    array = check("main.c:5:9: error: size of array 's' is negative\n" + mismatch, main_c=main).classification
    assert array is not None and array.category == "logic_error"
    alone = check(mismatch, main_c=main.replace("Stak ", "int ")).classification
    assert alone is not None and alone.category == "signature_mismatch"
