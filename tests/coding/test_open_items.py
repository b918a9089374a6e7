"""What is still open in a project, found without a model."""

from __future__ import annotations

from agent.coding.open_items import find_open_functions, find_open_types, in_dependency_order, source_of

HEADER = b"""#ifndef RING_H
#define RING_H
#include <stddef.h>
/** A ring of ints. */
typedef struct ring ring_t;
struct sockaddr;
typedef struct done { int x; } done_t;
/** Make one. Uses ring_reset() to empty it. */
ring_t *ring_new(size_t cap);
/** Empty it. */
void ring_reset(ring_t *r);
int ring_push(ring_t *r, int v);
int ring_size(const ring_t *r);
static inline int ring_two(void) { return 2; }
#endif
"""

FILES = {
    "include/ring.h": HEADER,
    "src/ring.c": b'#include "ring.h"\n/* not written */\nint ring_push(ring_t *r, int v)\n{ /* TODO */ return 0; }\n'
    b"int ring_size(const ring_t *r) { return 0; }\nstatic int helper(int);\n"
    b"static int other(void) { /* stub */ return 0; }\n",
    "tests/test_ring.c": b'#include "ring.h"\nint missing(void);\nint main(void) { return 0; }\n',
    "vendor/z.h": b"int z(void);\n",
    "a.py": b"class A:\n    def f(self):\n        '''x'''\n        raise NotImplementedError\n",
}


def test_stubs_and_undefined_functions_are_found_where_they_belong() -> None:
    found = [(one.name, one.path, one.header, one.why) for one in find_open_functions(FILES)]
    assert found == [
        ("ring_new", "src/ring.c", "include/ring.h", "undefined"),
        ("ring_reset", "src/ring.c", "include/ring.h", "undefined"),
        ("ring_push", "src/ring.c", "include/ring.h", "stub"),
        ("helper", "src/ring.c", "", "undefined"),
        ("other", "src/ring.c", "", "stub"),
        ("A.f", "a.py", "", "stub"),
    ]


def test_the_contract_comes_from_the_header_else_from_the_stub() -> None:
    docs = {one.name: one.doc for one in find_open_functions(FILES)}
    assert docs["ring_reset"] == "/** Empty it. */" and docs["ring_push"] == "/* not written */"


def test_only_an_opaque_type_that_open_functions_use_is_open() -> None:
    [found] = find_open_types(FILES)
    assert (found.spelling, found.typedefs, found.path) == ("struct ring", ("ring_t",), "src/ring.c")
    assert found.doc == "/** A ring of ints. */" and "ring_new" in found.users


def test_a_type_defined_in_the_source_is_not_open() -> None:
    files = FILES | {"src/ring.c": b'#include "ring.h"\nstruct ring { int n; };\n'}
    assert find_open_types(files) == []


def test_a_pointer_typedef_counts_as_a_name_of_the_type() -> None:
    [found] = find_open_types({"m.h": b"typedef struct map *map_t;\nmap_t map_new(void);\n"})
    assert (found.typedefs, found.path) == (("map_t",), "m.c")


def test_contracts_order_the_functions_and_cycles_keep_their_order() -> None:
    found = find_open_functions(FILES)
    assert [one.name for one in in_dependency_order(found)][:2] == ["ring_reset", "ring_new"]
    cycle = find_open_functions({"a.h": b"/* see b() */\nint a(void);\n/* see a() */\nint b(void);\n"})
    assert [one.name for one in in_dependency_order(cycle)] == ["b", "a"]


def test_where_a_headers_functions_go() -> None:
    assert source_of("include/x/map.h", {}) == "src/map.c"
    assert source_of("map.h", {"lib/map.c": b""}) == "lib/map.c"
    assert (
        source_of("api.h", {"impl.c": b'#include "api.h"\n', "main.c": b'#include "api.h"\nint main(void) {}'}) == "impl.c"
    )
    assert source_of("api.h", {"test_api.c": b'#include "api.h"\n'}) == "api.c"


def test_a_definition_that_macros_hide_is_no_missing_one() -> None:
    source = (
        b'#include "m.h"\nAPI(int) hidden(int a) NOTHROW\n{\n    return a;\n}\n'
        b"FOO_BEGIN\nint plain(void)\n{\n    return 1;\n}\n"
    )
    files = {"m.h": b"int hidden(int a);\nint plain(void);\nint gone(void);\n", "m.c": source}
    assert [one.name for one in find_open_functions(files)] == ["gone"]
