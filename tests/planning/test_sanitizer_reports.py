"""What sanitizers wrote, read: real output of gcc 12 and clang 14, shortened."""

from __future__ import annotations

from agent.planning.sanitizer_reports import SanitizerReport, findings

ASAN = """PASS test_count
==13962==ERROR: AddressSanitizer: heap-use-after-free on address 0x6030 at pc 0x561015cd1460 bp 0x7fff1 sp 0x7fff1
READ of size 8 at 0x603000001310 thread T0
    #0 0x561015cd145f in table_resize /tree/src/table.c:204
    #1 0x561015ccde62 in test_resize /tree/tests/test_table.c:162
    #4 0x7f4ffc445249 in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58

0x603000001310 is located 16 bytes inside of 24-byte region [0x603000001300,0x603000001318)
freed by thread T0 here:
    #0 0x7f4ffceb76a8 in __interceptor_free ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:52
    #1 0x561015cd13ee in table_free /tree/src/table.c:203
SUMMARY: AddressSanitizer: heap-use-after-free /tree/src/table.c:204 in table_resize
"""
IN_LIBC = """==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x7f0 bp 0x7ff sp 0x7ff T0)
    #0 0x7f00 in __strlen_avx2 ../sysdeps/x86_64/multiarch/strlen-avx2.S:76
    #1 0x7f01 in __interceptor_strlen ../../src/libsanitizer/sanitizer_common/sanitizer_common_interceptors.inc:387
    #2 0x5601 in name_length(char const*) /tree/src/name.c:9:12
    #3 0x5602 in main /tree/tests/test_name.c:4
SUMMARY: AddressSanitizer: SEGV ../sysdeps/x86_64/multiarch/strlen-avx2.S:76 in __strlen_avx2
"""
DOUBLE = """==7==ERROR: AddressSanitizer: attempting double-free on 0x602000000010 in thread T0:
    #0 0x7f in __interceptor_free ../../src/libsanitizer/asan/asan_malloc_linux.cpp:52
    #1 0x56 in drop src/name.c:20
"""
UBSAN = """src/name.c:14:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
    #0 0x55 in add_up /tree/src/name.c:14
src/name.c:14:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
/usr/include/x.h:3:1: runtime error: load of null pointer of type 'int'
"""


def mine(path: str) -> str:
    name = path.removeprefix("/tree/")
    return name if name.startswith("src/") else ""


def test_the_innermost_function_of_the_project_is_named_not_who_freed_or_a_test() -> None:
    assert findings(ASAN, mine) == [SanitizerReport("heap-use-after-free", "table_resize", "src/table.c", 204)]
    assert findings(IN_LIBC, mine) == [SanitizerReport("SEGV", "name_length", "src/name.c", 9)]
    assert findings(DOUBLE, mine) == [SanitizerReport("double-free", "drop", "src/name.c", 20)]


def test_undefined_behaviour_is_told_once_and_only_in_the_project() -> None:
    [one] = findings(UBSAN, mine)
    assert (one.function, one.path, one.line) == ("add_up", "src/name.c", 14) and one.kind.startswith("signed integer")


def test_output_without_a_report_has_none() -> None:
    assert findings("ok\nFAILED 3\nERROR: nothing\n", mine) == []
    assert findings(ASAN, lambda path: "") == []


def test_a_finding_reads_as_a_sentence_with_its_line_of_code() -> None:
    [one] = findings(ASAN, mine)
    assert one.sentence("    current = current->next;") == (
        "In table_resize (src/table.c, line 204), at `current = current->next;`: "
        "memory is used after it was freed (heap-use-after-free)."
    )
    assert SanitizerReport("shift too far", "", "a.c", 3).sentence() == "In a.c, line 3: shift too far."


def test_who_runs_a_test_is_not_to_blame_for_what_it_does() -> None:
    output = """==7==ERROR: AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x7f0 bp 0x7ff sp 0x7ff T0)
    #0 0x5602 in test_empty /tree/tests/test_name.c:4
    #1 0x5603 in run_test /tree/lib/runner.c:30
    #2 0x5604 in main /tree/tests/test_name.c:40
"""
    assert findings(output, lambda path: None if "tests/" in path else path) == []
