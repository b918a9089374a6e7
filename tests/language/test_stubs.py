"""Stubs: written ones compile for every return type under both compilers; found ones are found, and only those."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.c.declarations.functions import CFunction, functions
from agent.c.writing.stub_text import MARKER, stub_text
from agent.c.writing.stubs import find_stubs
from agent.python.stubs import find_stubs as find_python_stubs

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]

TYPES = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
struct point { int x, y; };
typedef struct { double re, im; } complex_t;
typedef struct opaque opaque_t;
union number { int i; float f; };
typedef union number number_t;
enum color { RED = 1, GREEN };
typedef enum { LOW, HIGH } level_t;
typedef int (*compare_fn)(const void *, const void *);
typedef float vec3[3];
typedef const int fixed_t;
typedef void *handle_t;
typedef struct { vec3 rows[3]; } matrix_t;
"""

PROTOTYPES = [
    "void nothing(void);",
    "void old_style();",
    "int plain(int a, char *b);",
    "unsigned long long big(void);",
    "double real(double x);",
    "long double realest(void);",
    "bool truth(bool a);",
    "_Bool truth2(void);",
    "char letter(void);",
    "const char *text(const char *s);",
    "char *const fixed_pointer(void);",
    "const int fixed_int(void);",
    "volatile int jumpy(void);",
    "fixed_t typedef_const(void);",
    "void *memory(size_t n);",
    "void **table(int n);",
    "struct point by_value(struct point p);",
    "const struct point const_by_value(void);",
    "struct point *by_pointer(const struct point *p);",
    "complex_t anonymous_struct(complex_t a, complex_t b);",
    "union number either(void);",
    "number_t either_typedef(number_t n);",
    "enum color hue(enum color c);",
    "level_t level(void);",
    "opaque_t *make(void);",
    "void drop(opaque_t *o);",
    "int (*get(int x, char *))(int);",
    "void (*install(int sig, void (*handler)(int)))(int);",
    "compare_fn chosen(compare_fn fallback);",
    "int each(int (*visit)(void *, int), void *);",
    "int (*matrix_row(void))[4];",
    "void take_arrays(vec3 v, int a[static 3], int b[][2], int [5]);",
    "const vec3 *rows(const vec3 *m);",
    "matrix_t product(matrix_t a, const matrix_t *b);",
    "handle_t open_handle(void);",
    "uint8_t byte(uint8_t);",
    "int logf_(const char *fmt, ...);",
    "extern int declared_extern(int);",
    "__attribute__((noreturn)) void die(int code);",
    "_Noreturn void die2(const char *why);",
    "int used(void) __attribute__((warn_unused_result));",
    "void printfish(const char *fmt, ...) __attribute__((format(printf, 1, 2)));",
    "FILE *stream(FILE *);",
    "int unnamed(int, char *, struct point, void (*)(int), int (*)[3], const char *const *);",
    "signed char sc(unsigned);",
    "size_t count(const int *restrict p);",
]


def source_of(prototypes: list[CFunction]) -> str:
    return "\n\n".join(['#include "h.h"', *map(stub_text, prototypes)]) + "\n"


def compile_stubs(tmp: Path, compiler: str, header: str) -> subprocess.CompletedProcess[str]:
    (tmp / "h.h").write_text("#ifndef H_H\n#define H_H\n" + header + "\n#endif\n")
    prototypes = functions((tmp / "h.h").read_bytes())
    (tmp / "h.c").write_text(source_of(prototypes))
    command = [compiler, "-std=c11", "-c", "-Wall", "-Wextra", "-Werror", "-Wno-ignored-qualifiers", "h.c", "-o", "h.o"]
    if compiler == "clang":
        command.insert(-3, "-Wno-unknown-warning-option")
    return subprocess.run(command, cwd=tmp, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_stub_of_every_return_type_compiles(tmp_path: Path, compiler: str) -> None:
    done = compile_stubs(tmp_path, compiler, TYPES + "\n".join(PROTOTYPES))
    assert done.returncode == 0, done.stderr
    assert len(functions((tmp_path / "h.c").read_bytes())) == len(PROTOTYPES)


def test_every_generated_stub_is_recognised(tmp_path: Path) -> None:
    prototypes = functions((TYPES + "\n".join(PROTOTYPES)).encode())
    source = source_of(prototypes).encode()
    assert [function.name for function in find_stubs(source)] == [function.name for function in prototypes]
    assert source.count(MARKER.encode()) == len(prototypes)


_bases = ["int", "unsigned char", "double", "bool", "size_t", "struct point", "complex_t", "union number", "enum color",
          "level_t", "compare_fn", "handle_t", "const char *", "struct point *", "opaque_t *", "fixed_t"]  # fmt: skip
_kinds = st.sampled_from([*_bases, "vec3", "int (*{})(int)", "char {}[8]", "int (*{})[3]"])


@st.composite
def prototype(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from(["a", "b", "count", "self", ""]), max_size=4))
    parameters = []
    for position, name in enumerate(names):
        kind = draw(_kinds)
        called = f"{name}{position}" if name else ""
        parameters.append(kind.format(called) if "{}" in kind else f"{kind} {called}".strip())
    if parameters and draw(st.booleans()):
        parameters.append("...")
    shape = draw(st.sampled_from(["plain", "plain", "void", "function pointer", "array pointer"]))
    inner = f"f({', '.join(parameters) or 'void'})"
    if shape == "void":
        return f"void {inner};"
    if shape == "function pointer":
        return f"{draw(st.sampled_from(['int', 'void', 'struct point']))} (*{inner})(int, char *);"
    if shape == "array pointer":
        return f"int (*{inner})[7];"
    return f"{draw(st.sampled_from(_bases))} {inner};"


@pytest.mark.skipif(not COMPILERS, reason="needs a C compiler")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(prototype(), min_size=1, max_size=8))
def test_stubs_of_any_prototypes_compile(tmp_path: Path, prototypes: list[str]) -> None:
    named = [text.replace("f(", f"f{number}(", 1) for number, text in enumerate(prototypes)]
    done = compile_stubs(tmp_path, COMPILERS[0], TYPES + "\n".join(named))
    assert done.returncode == 0, (named, done.stderr)


def test_the_contract_is_carried_into_the_stub() -> None:
    [function] = functions(b"/** Adds. Returns the sum. */\nint add(int a, int b);\n")
    assert stub_text(function).startswith("/** Adds. Returns the sum. */\nint add(int a, int b)\n{\n    /* cra:stub */")
    assert stub_text(function, doc="").startswith("int add(")


STUBS = [
    "int f(int a) { /* TODO */ return 0; }",
    "int f(int a) { (void)a; /* TODO: implement */ return -1; }",
    "void f(int a) { (void) a; // not implemented yet\n}",
    "bool f(void) { // stub\n return false; }",
    "/* TODO: write this. */\nchar *f(void) { return NULL; }",
    "struct p f(void) { struct p r = {0}; /* placeholder */ return r; }",
    'int f(void) { assert(0 && "not implemented"); return 0; }',
    'int f(void) { assert(!"TODO"); }',
    'void f(void) { fprintf(stderr, "f: not implemented\\n"); abort(); }',
    "int f(int a) { errno = ENOSYS; return -1; }",
    "int f(int a) { }",
    "int f(int a) { (void)a; }",
    "void f(void)\n{\n    /* cra:stub */\n}",
    "static struct p f(void) { /* cra:stub */ static struct p r; return r; }",
    "size_t f(const char *s) { /* your code here */ return (size_t)0; }",
]

REAL = [
    "int f(void) { return 0; }",
    "int version(void) { return 3; }",
    "void f(void) { }",
    "void noop(int a) { (void)a; }",
    "int f(int a) { (void)a; return 0; }",
    "void die(void) { abort(); }",
    'const char *name(void) { return "stubborn"; }',
    "int f(struct r *r) { return r->count; /* TODO: faster */ }",
    "int f(int a) { /* TODO: overflow */ return a + 1; }",
    "/* Counts the todo items. */\nint f(void) { return 0; }",
    "void f(struct r *r) { free(r); /* FIXME */ }",
    "int f(int a) { if (a) return 1; /* TODO */ return 0; }",
    "int main(void) { return 0; }",
]


@pytest.mark.parametrize("source", STUBS)
def test_a_stub_is_found(source: str) -> None:
    assert len(find_stubs(source.encode())) == 1


@pytest.mark.parametrize("source", REAL)
def test_a_real_function_is_no_stub(source: str) -> None:
    assert find_stubs(source.encode()) == []


def test_weak_evidence_counts_in_company() -> None:
    source = b"void f(int a) { (void)a; }\nint g(int a) { (void)a; return 0; }\nint k(void) { return 0; }\n"
    assert find_stubs(source) == []
    company = source + b"int h(void) { /* TODO */ return 0; }\n"
    assert [function.name for function in find_stubs(company)] == ["f", "g", "h"]


PY_STUBS = [
    "def f(x):\n    raise NotImplementedError\n",
    "def f(x):\n    '''Doc.'''\n    raise NotImplementedError('later')\n",
    "def f(x):\n    ...\n",
    "def f(x):\n    pass  # TODO\n",
    "def f(x) -> int:\n    pass\n",
    "def f(x):\n    # stub\n    return None\n",
    "def f(x):\n    # cra:stub\n    return []\n",
    "class A:\n    async def f(self):\n        ...\n",
]

PY_REAL = [
    "def f():\n    pass\n",
    "def f():\n    return 0\n",
    "def f() -> None:\n    pass\n",
    "class A(Protocol):\n    def f(self): ...\n",
    "class A(ABC):\n    def f(self): ...\n",
    "class A:\n    @abstractmethod\n    def f(self): raise NotImplementedError\n",
    "class A:\n    def f(self): raise NotImplementedError\nclass B(A):\n    def f(self): return 1\n",
    "@overload\ndef f(x: int) -> int: ...\n",
    "def f(x):\n    if x:\n        raise NotImplementedError('negative')\n    return 1\n",
    "def f(x):\n    return x  # TODO faster\n",
    "def broken(:\n",
]


@pytest.mark.parametrize("source", PY_STUBS)
def test_a_python_stub_is_found(source: str) -> None:
    assert len(find_python_stubs(source.encode())) == 1


@pytest.mark.parametrize("source", PY_REAL)
def test_a_real_python_function_is_no_stub(source: str) -> None:
    assert find_python_stubs(source.encode()) == []
