# ruff: noqa: E501
"""Names in C as people write it: macros around declarations, branches, lists of macros. One small input a kind."""

from __future__ import annotations

import pytest

from agent.c.symbols.reader import parse

KINDS: dict[str, tuple[str, set[tuple[str, str, int]]]] = {
    "a main that shares its body with the other branch": (
        "#ifdef _WIN32\nint umain(int c, char **v);\nint wmain(int c) {\n  return umain(c, 0);\n}\n"
        "int umain(int c, char **v) {\n#else\nint main(int c, char **v) {\n#endif\n  return 0;\n}\nint after(void) { return 1; }\n",
        {("umain", "prototype", 2), ("wmain", "function", 3), ("umain", "function", 6), ("main", "function", 8),
         ("after", "function", 12)},
    ),
    "macro lines without a semicolon": (
        'static MAKE_PATH(path_a, "A")\nMAKE_PATH(path_b, "B")\n/* c */\nMAKE_PATH(path_c, "C")\n\n'
        "static int after(int a)\n{\n  return a;\n}\n",
        {("after", "function", 6)},
    ),
    "macro lines before a type": ("REGISTER(one)\nREGISTER(two)\nstruct pool { int a; };\n", {("pool", "struct", 3)}),
    "definitions and prototypes in a macro": (
        "EXPORTED(void heap_init(struct heap *h));\nEXPORTED(void heap_init(struct heap *h)) {\n  h->a = 0;\n}\n"
        "MAYBE_UNUSED(static int helper(int a)) {\n  return a;\n}\n",
        {("heap_init", "prototype", 1), ("heap_init", "function", 2), ("helper", "function", 5)},
    ),
    "both variants of a function": (
        "#ifdef A\nint f(int a) { return 1; }\n#else\nint f(int a) {\n  int b = 2;\n  return b;\n}\n#endif\n",
        {("f", "function", 2), ("f", "function", 4)},
    ),
    "enumerators among macros": (
        "typedef enum {\n  FIRST = 0,\n#define X(n) n,\n  MAP(X)\n#undef X\n  LAST = SHIFT(3, (1 + 2)),\n  END\n} t;\n",
        {("t", "typedef", 1), ("FIRST", "enumerator", 2), ("X", "macro", 3), ("LAST", "enumerator", 6),
         ("END", "enumerator", 7)},
    ),
    "enumerators behind an error": (
        "struct odd { int a;; @ };\nenum color { RED, GREEN = 3,\n  BLUE };\nint f(void) { enum { LOCAL } x = LOCAL; return x; }\n",
        {("odd", "struct", 1), ("color", "enum", 2), ("RED", "enumerator", 2), ("GREEN", "enumerator", 2),
         ("BLUE", "enumerator", 3), ("f", "function", 4)},
    ),
    "variables of a struct without a name": (
        "static struct { int a; } table[] = {{1}};\nunion { int a; float b; } both;\nenum { X1, X2 } state;\n",
        {("table", "global", 1), ("both", "global", 2), ("state", "global", 3), ("X1", "enumerator", 3),
         ("X2", "enumerator", 3)},
    ),
    "callbacks of Windows": (
        "typedef BOOL PASCAL (*connect_fn)(SOCKET s, DWORD n);\ntypedef NTSTATUS (NTAPI *query_fn)\n"
        "    (_In_ HANDLE file, _Out_writes_(n) char *to, ULONG n);\nint after(void) { return 0; }\n",
        {("connect_fn", "typedef", 1), ("query_fn", "typedef", 2), ("after", "function", 4)},
    ),
    "prose that no build reads": (
        "#if 0\nThis isn't code; it = prose.\nint x y z;\n#else\nint read;\n#endif\n#if 1\nint kept;\n#else\nint never;\n#endif\n",
        {("read", "global", 5), ("kept", "global", 8)},
    ),
    "fields that are macros": (
        "struct handle {\n  HANDLE_FIELDS\n  MORE_FIELDS\n  int own;\n};\nint after(void);\n",
        {("handle", "struct", 1), ("after", "prototype", 6)},
    ),
    "names that the language might have had": (
        "typedef long ssize_t;\ntypedef unsigned char uint8_t;\n", {("ssize_t", "typedef", 1), ("uint8_t", "typedef", 2)},
    ),
    "attributes with numbers": (
        "void printflike(1, 2) say(const char *fmt, ...);\n", {("say", "prototype", 1)},
    ),
    "the macro of a guard, and one that only ends like one": (
        "#ifndef A_H\n#define A_H\n#define WITH_H\nint a;\n#endif\n", {("WITH_H", "macro", 3), ("a", "global", 4)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_name_is_found_once_as_what_it_is(kind: str) -> None:
    text, expected = KINDS[kind]
    found = [(symbol.name, symbol.kind, symbol.line) for symbol in parse(text.encode()).symbols]
    assert sorted(found) == sorted(expected)


def test_a_wrapped_definition_is_read_with_its_macro() -> None:
    source = b"int x;\nEXPORTED(static int helper(int a)) {\n  return a;\n}\n"
    (symbol,) = [one for one in parse(source).symbols if one.kind == "function"]
    assert source[symbol.start : symbol.end].startswith(b"EXPORTED(") and source[symbol.start : symbol.end].endswith(b"}")
    assert source[symbol.body_start : symbol.body_end] == b"{\n  return a;\n}"
    assert symbol.static and "int helper(int a)" in symbol.signature


@pytest.mark.parametrize(
    "piece",
    [
        "MAKE_PATH(a, b)\n", "EXPORTED(void f(int a)) {\n}\n", "enum { A,\n MAP(X)\n", "struct s {\n FIELDS\n};\n", "#if 0\nit's\n",
        "#if 0\nx\n#else\n#endif\n", "enum { A, B, C, D };\n@\n", "((((", "WINAPI _In_ ", "enum {", "}\n",
        "int a, b, c, d, e;\n", "MACRO(\n", "      \n",
        "a # b", "A(A(", "static ", "#", ") \n",
    ],
)  # fmt: skip
def test_odd_text_at_length_is_read(piece: str) -> None:
    """What costs quadratic time anywhere does not come back before the test's time is up."""
    parse((piece * (120_000 // len(piece))).encode())
