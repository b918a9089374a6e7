"""The words with which compilers, linkers, build tools, test runners, patch tools and crashed programs report failure.

Only lines that a tool itself writes are listed: a summary, a located error, a verdict. The bare words *fail*, *error* and
*gcc* prove nothing, since passing runs print them as well.
"""

from __future__ import annotations

import re

from agent.planning import tool_languages

_NOT_A_COMPILER = r"(?!.*\b(?:Failure!|check .* (?:has )?failed|is NOT correct))"
# The located lines of cmocka, Boost.Test and doctest look like a compiler's but for these words.


def _any(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), flags)


def _caseless(*patterns: str) -> str:
    return f"(?i:{'|'.join(patterns)})"


COMPILE = _any(
    rf"^(?:In file included from )?[^\s:()][^:()]*:\d+(?:[:.]\d+)?(?:-\d+)?:\s*"
    rf"{tool_languages.ERROR_WORD}{tool_languages.COLON}{_NOT_A_COMPILER}",
    r"\{\"kind\": ?\"(?:fatal )?error\"",
    r"^[^\s:()][^:()]*\(\d+(?:,\d+)?\)\s?: (?:fatal )?error(?: [A-Z]+\d+)?: (?!in \")",
    r"^(?:.*[/\\])?(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cc1|cc1plus|lto1|tcc|emcc)(?:-[\d.]+)?(?:\.exe)?:"
    r" (?:fatal )?error:",
    r"^cc1\w*: (?:all|some) warnings being treated as errors",
    r"internal compiler error:",
    r"^error(?:\[E\d+\])?: (?:could not compile|aborting due to|expected|cannot find|mismatched|unresolved|linking with)",
    r"^error\[E\d+\]",
    r"^\./?\S+\.go:\d+:\d+: ",
    r"^/\S+\.s: Assembler messages:|^(?:\S+\.\w+|\{standard input\}):\d+: Error: ",
    r"^CMake Error(?: at |:)|^CMake Error in ",
    r"^meson\.build:\d+:\d+: ERROR: ",
    r"^ninja: (?:error|build stopped): ?(?!interrupted)",
    r"^(?:g?make)(?:\[\d+\])?: (?:gcc|cc|clang|g\+\+|c\+\+|ld|ar)\S*: (?:No such file|Command not found|not found)",
    r"^configure: error: |^(?:\S+:\d+:\d+: )?invalid-syntax: ",
    r"(?:^|: )(?:line \d+: )?(?:[Ss]yntax|parse) error(?:: | near | before | at )",
    r"^(?:\S+: )?error: (?:no such file or directory|unrecognized command.line option|unknown argument)",
)
"""A compiler, an assembler, or the tool that calls them."""

LINK = _any(
    tool_languages.UNDEFINED,
    tool_languages.MULTIPLE,
    r"undefined symbol(?!: \w+$)|Undefined symbols for architecture|ld: symbol\(s\) not found",
    r"(?:^|/)(?:ld|ld\.\w+|lld|gold|mold)(?:-[\d.]+)?: (?:error:|cannot find|can't find|library not found|unknown option"
    r"|.*: file not recognized)",
    r"^collect2: (?:fatal )?error: |linker command failed with exit code",
)
"""The linker."""

COMPILE_SUMMARY = re.compile(
    r"^cc1\w*: (?:all|some) warnings|^collect2: |linker command failed|^ninja: build stopped|could not compile"
)
"""What follows an error that was reported before."""

PYTHON_SYNTAX = re.compile(
    r"^(?:E\s+)?(?:\*\*\* )?(?:Sorry: )?(?:SyntaxError|IndentationError|TabError)\b(?!.*\b(?:raised|expected exception))"
)
"""Python that does not parse."""

TEST = _any(
    r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+ ?s",
    r"^(?:\d+ [a-z]+, )*[1-9]\d* (?:failed|errors?)\b.* in [\d.]+ ?s\b",
    r"^=* ?no tests (?:ran|collected).* in [\d.]+ ?s",
    r"^(?:FAILED|ERROR) \S+\.py(?:::\S+.*)?(?: - .*)?$",
    r"^\S+\.py::\S.* (?:FAILED|ERROR)(?:\s+\[\s*\d+%\])?$",
    r"^\[gw\d+\](?: \[\s*\d+%\])? (?:FAILED|ERROR) \S+",
    r"^(?:\S+\.py )?[.sxXRFE]*[FE][.sxXRFE]*\s+\[\s*\d+%\]$",
    r"^!+ (?:Interrupted: |stopping after )",
    r"^ERROR: (?:file or directory not found|not found): ",
    r"^FAILED \((?:failures|errors|unexpected successes)=\d+",
    r"^(?:FAIL|ERROR): \w+ \([\w.]+\)",
    r"^\*\*\*Test Failed\*\*\* \d+ failure",
    r"^\s*\d+% tests passed, [1-9]\d* tests? failed",
    r"^The following tests FAILED:|^Errors while running CTest",
    r"^\s*\d+/\d+ Test\s+#\d+: .*(?:\*\*\*\S|Not Run)",
    r"^No tests were found!!!",
    r"^\s*\d+/\d+ .+\s(?:FAIL|TIMEOUT|ERROR)\s+[\d.]+\s?s",
    r"^(?:Fail|Timeout|Unexpected Pass):\s+[1-9]\d*\s*$",
    r"^\d+%: Checks: \d+, Failures: (?!0, Errors: 0$)\d+, Errors: \d+",
    r"^\S+:\d+:[FE]:[^:]*:[^:]+:\d+: ",
    r"^\S+:\d+:\w+:FAIL\b",
    r"^\d+ Tests [1-9]\d* Failures \d+ Ignored",
    r"^not ok\b(?!.*#\s*(?i:todo|skip)\b)",
    r"^Result: FAIL$|^Test Summary Report$|^# Looks like you failed \d+",
    r"^(?:FAIL|XPASS|ERROR): \S+(?:\s|$)",
    r"^# (?:FAIL|ERROR|XPASS): +[1-9]\d*",
    r"^\[\s+FAILED\s+\] ",
    r"^\[\s+(?:ERROR|LINE)\s+\] --- ",
    r"^\s*(?:asserts|tests)\s+\d+\s+\d+\s+\d+\s+[1-9]\d*\s",
    r"^(?:\[doctest\] )?test cases:\s*\d+ \|.*\b[1-9]\d* failed",
    r"^\S+:\d+: FAILED(?::|$)|^\S+:\d+: Failure$",
    r"^\[(?:FAIL|----)\] \S+(?:::|:\d+: Assertion)",
    r"^\[====\] Synthesis: .*(?:Failing|Crashing): [1-9]",
    r"^\*\*\* [1-9]\d* failures? (?:is|are) detected",
    r"^\S+\(\d+\): error: in \"",
    r"^(?:Bail out! )?ERROR:\S+:\d+:\w*: assertion failed",
    r"^Error: \S+:\d+: assertion failed",
    r"^# of unexpected failures\s+[1-9]",
    r"^test result: FAILED\.|^--- FAIL: \S+|^FAIL\t\S+",
    r"^\s*(?:Tests|Test Suites|Test Files):?\s+.*\b[1-9]\d* failed",
    r"^\s*[1-9]\d* failing$",
    r"^\s*(?:\[?FAIL(?:ED)?\]?:?)\s+[A-Za-z_][\w./:-]*(?:\s*$|[\s:(-])",
    r"^\s*[A-Za-z_][\w./-]*(?:\s*\.{2,}\s*|\s*:\s*|\s+-\s+|\s+)\[?(?:FAIL|FAILED)\]?[.!]?\s*$",
    r"^\s*[A-Za-z_][\w./-]*\s+\[?(?:FAIL|FAILED)\]? [(:]",
    r"^\s*\[?(?:FAIL|FAILED)\]?\s*[-–—]\s*\S",
    r"^\s*[✗✘✖❌]\s*\w",
    r"^failure: \S.* \[$|<testsuites?\b.*\b(?:failures|errors)=\"[1-9]",
    r"^\s*(?:\S+:\d+:\s*)?test\w*:? .*\bexpected\b.*\b(?:got|was|but)\b",
    r"(?<![\d.])[1-9]\d* (?:of|out of|/) \d+ (?:tests?|checks?|assertions?) failed",
    _caseless(
        r"\b\d+ (?:tests? |checks? )?passed\b.*(?<![\d.])[1-9]\d* (?:tests? |checks? )?(?:failed|failures?|errors?)\b",
        r"(?<![\d.])[1-9]\d* (?:tests? |checks? )?failed\b.*\b\d+ (?:tests? |checks? )?passed\b",
        r"^\W*(?:tests? )?(?:failed|failures?)\s*[:=]\s*[1-9]\d*\b",
        r"\bpassed\s*[:=]\s*\d+.*\bfail(?:ed|ures?)?\s*[:=]\s*[1-9]\d*",
        r"^\W*[1-9]\d* (?:tests? |checks? )?(?:failed|failures?)\W*$",
        r"^\W*(?:all |some |the |\d+ )?(?:tests?|checks?)(?: cases?| #?\w+)? (?:have |has )?failed\b",
        r"\btests?(?: run)?: \d+,.*\b(?:failures|errors): [1-9]",
        r"\bpassed:? (?P<a>\d+) ?(?:/|of|out of) ?(?!(?P=a)\b)\d+\b",
        r"\b(?P<b>\d+) ?(?:/|of|out of) ?(?!(?P=b)\b)\d+ (?:tests? |checks? |assertions? )?(?:passed|ok|succeeded)\b",
        r"\b\d+ (?:tests?|checks?|assertions?|run)\b.*(?<![\d.])[1-9]\d* (?:failed|failures?|errors?)\b",
    ),
)
"""A test runner: a test's verdict, or the summary line."""

ASSERTION = _any(
    r"^(?:E\s+)?AssertionError\b",
    r"^\S.*: Assertion [`‘'].*['’] failed\.?",
    r"^Assertion failed: .*(?:, function .*)?, file .*, line \d+",
    r"^Assertion failed: .+\(\S+: \w+: \d+\)$",
    r"^(?:\S+:\d+: (?:\w+: )?)?assertion \".+\" failed(?:: file \".+\", line \d+|$)",
)
"""An assertion outside any runner (glibc, macOS and BSD, musl, bionic and newlib): a test's failure or a program's, as the
command tells."""

TEST_PLACE = re.compile(r"\btest_\w+|\w_tests?\b|\btests?/|\btests?\.c\b")
"""A test's function or file, in the words of an assertion."""

PATCH = _any(
    r"^(?:git(?: apply| am)?(?: failed)?: )?(?:error|fatal): (?:corrupt (?:binary )?patch at |patch failed: "
    r"|patch with only garbage at |patch fragment without header|unrecognized (?:input|binary patch)"
    r"|No valid patches in input|git apply: bad git-diff|git diff header lacks"
    r"|invalid mode on line|inconsistent (?:old|new) (?:filename|mode)|removal patch leaves file contents|binary patch "
    r"|cannot apply binary patch|the patch applies to|recount: unexpected line|unable to find filename in patch"
    r"|sha1 information is lacking|could not build fake ancestor|repository lacks the necessary blob|patch '|Rejected hunk"
    r"|could not apply|could not parse patch|Failed to merge in the changes|can't open patch|while searching for:"
    r"|(?:new|deleted) file .+ (?:depends on old|still has) contents|affected file |cannot read the current contents of"
    r"|[Yy]our local changes to the following files would be overwritten|cherry-pick is not possible)",
    r"^error: .+: (?:patch does not apply|does not exist in index|does not match index"
    r"|already exists in (?:working directory"
    r"|index)|wrong type|not a git patch|cannot checkout|has been (?:deleted/)?renamed)\b",
    r"^error: \S+: No such file or directory$",
    r"^Patch (?:failed at \d+|format detection failed|is empty)|^Rejected hunk #\d+|^Applying patch .* with [1-9]\d* reject",
    r"^patch: \*{4} |^missing header for (?:unified|context) diff at line|^No file to patch\. +Skipping patch"
    r"|^(?:The next patch|File \S+ is not empty after patch|Ignoring potentially dangerous file name)\b.*",
    r"^Patch \S+ (?:does not apply|can be reverse-applied)|^abort: patch failed to apply|^unable to find '.+' for patching"
    r"|^apply_patch verification failed|^Invalid (?:patch|context)\b",
    tool_languages.PATCH,
    r"^CONFLICT \(|^Automatic merge failed",
    r"^Hunk #\d+ (?:FAILED|failed) |\d+ out of \d+ hunks? (?:FAILED|failed|ignored)",
    r"can't find file to patch at input line|malformed patch at line|Only garbage was found in the patch input",
    r"^Reversed \(or previously applied\) patch detected|^patch unexpectedly ends in middle of line",
    _caseless(
        r"SEARCH(?:/REPLACE)? blocks? (?:failed to (?:\w+ )?match|did(?: not|n't) match|(?:was )?not found|does not)",
        r"(?:search|old[_ ]?(?:str|string|text)|find)[^\n]{0,60}?\b(?:not found|no match|did not match|does not match"
        r"|not unique|was not found|could not be found|does(?: not|n't) (?:exist|appear|occur))",
        r"(?:could not|couldn't|cannot|can't|failed to|unable to) (?:find|locate|match|apply)\b[^\n]{0,80}"
        r"\b(?:search|replace|old|original|block|hunk|edit|patch|diff|snippet|text)\b",
        r"\b(?:edit|patch|hunk|diff|replacement|change)\b[^\n]{0,40}\b(?:failed to apply|did not apply|does not apply"
        r"|could not be applied|cannot be applied|was not applied|not applied|failed|rejected)\b",
        r"\b(?:multiple|\d+) (?:matches|occurrences) (?:of|for|found)\b[^\n]{0,60}(?:search|old|string|text|unique)",
        r"\b(?:search|old|text|string|block|snippet)\b[^\n]{0,60}(?:must be|is not|isn't|not) unique",
        r"no (?:exact )?match(?:es)? (?:was |were )?found (?:for|in)\b",
    ),
)
"""An edit that did not apply."""

_SANITIZER = r"(?:\w*Sanitizer|libFuzzer|[AHLMTU][A-Z]?W?[Ss][Aa][Nn])"

SANITIZER = _any(
    rf"^==\d+==\s?(?:ERROR|FATAL): {_SANITIZER}\b|==\d+==\s?ERROR: \w*Sanitizer: |^FATAL: {_SANITIZER}: ",
    rf"^(?:==\d+==\s?)?{_SANITIZER}:? ?(?:DEADLYSIGNAL|SIG[A-Z]+\b|CHECK failed\b|nested bug\b|\w+ rss limit exhausted)",
    r"WARNING: (?:Thread|Memory)Sanitizer: |^SUMMARY: \w*Sanitizer: |has encountered a fatal error\.?$",
    r"^(?:\S+:\d+(?::\d+)?|<unknown>): runtime error: |^ubsan: [a-z][\w-]+(?: by 0x[0-9a-f]+| at .+)?$|^UBSAN: \S",
    r"^==\d+== (?:Invalid (?:read|write|free)|Conditional jump or move depends|Process terminating|Use of uninitialised"
    r"|ERROR SUMMARY: [1-9])",
    r"^(?:Program|Thread \d.*) received signal SIG(?:SEGV|ABRT|BUS|FPE|ILL)\b",
    r"^\*\*\* GWP-ASan detected a memory error|^mimalloc: (?:error|assertion failed): |^Scudo ERROR: ",
)
"""Sanitizers, hardened allocators, valgrind and debuggers. They can report with exit code 0, as UBSan does."""

_SHELL = r"(?:\S+: (?:(?:line )?\d+: ?)?)?(?:\[\d+\]\s*[-+]?\s+)?(?:\d+:? +)?"
"""What a shell prints first: its own name or the script's with the line, the job number, the process number."""
_DIED = (
    r"(?:[Aa]bort(?:ed)?(?: trap)?|[Kk]illed|[Tt]erminated|[Hh]angup|[Qq]uit|[Aa]larm clock|[Bb]ad system call"
    r"|[Ii]nvalid system call"
    r"|[Mm]emory fault|[Ss]egmentation (?:fault|violation)|[Bb]us error|[Ff]loating (?:point )?exception"
    r"|[Ii]llegal (?:hardware )?instruction|[Tt]race(?:/(?:breakpoint|BPT))? trap|(?:IOT|EMT) (?:trap|instruction)"
    r"|[Ss]tack fault|(?:CPU time|(?:cpu|file size) limit|File size) (?:limit )?exceeded)"
)
"""The words of strsignal and of shells for a death by signal (bash, dash, ksh, zsh; glibc, macOS, BSD)."""
_SIGNAL_NAME = r"(?:SIG[A-Z]+\d?\b|<Signals\.SIG|(?:SEGV|ABRT|BUS|FPE|ILL|TRAP|KILL)\b)"
_ENDED_BY = r"\b(?i:terminated|killed|died|dumped|stopped|exited|crashed|interrupted|failed)"
_ENDED_BY += r" (?i:by|with|from|on|due to|because of)"

CRASH = _any(
    r"\b(?:Segmentation fault|Bus error|Floating point exception|Illegal instruction|Trace/(?:breakpoint|BPT) trap"
    r"|Abort trap)\b",
    tool_languages.DIED,
    rf"^{_SHELL}{_DIED}(?:: \d+)?(?:\s*\((?:core dumped|coredump)\))?(?:\s{{2,}}\S.*|\s*$|\s+\./.*)",
    r"^\S+: (?:\S+ \d+: +|\d+ 行: +|第 \d+ 行： +)\d+ [^\d:]+ {2,}\S",
    rf"{_ENDED_BY} (?:an? |the )?(?:unhandled |fatal )?(?:signal:? ?(?:\d+\b|{_SIGNAL_NAME})|{_SIGNAL_NAME})",
    rf"\b(?i:received|caught|got|uncaught|unhandled|fatal|deadly) (?:target )?signal:? ?(?:\d+\b|{_SIGNAL_NAME})",
    r"^\+\+\+ killed by SIG",
    rf"\(signal: \d+, SIG[A-Z]+\b|\bstop reason = (?:signal SIG[A-Z]+|EXC_[A-Z_]+)|^Child (?:killed|status): {_DIED}",
    r"\bmalloc: \*\*\* error for object 0x|^\[ *\d+\.\d+\] .*\bsegfault at |^wine: Unhandled "
    r"|^time: command terminated abnormally",
    r"\bcode=(?:killed|dumped), (?:signal|status)=|^timeout: the monitored command dumped core",
    r"(?i:exit(?:ed)?(?: with)? (?:code|status)|status code):? (?:13[1-9]|-(?:[4-8]|11)|-1073741\d{3}|0xC0000\w{3})\b",
    r"^\S+: (?:line )?\d*:? ?\S+: (?:unbound variable|parameter not set)$|^.+ at \S+ line \d+\.$",
    r"\((?:core dumped|coredump)\)|^\*\*\* (?:stack smashing|buffer overflow) detected",
    r"^(?:double free or corruption|free\(\): |malloc\(\): |munmap_chunk\(\): |corrupted |realloc\(\): |malloc_consolidate)",
    r"^terminate called |^libc\+\+abi: |^Fatal Python error: |^fatal error: (?:all goroutines|unexpected signal)",
    r"panicked at |^panic: |^goroutine \d+ \[running\]|^Exception in thread \"|^Unhandled exception at 0x",
    r"^\[gw\d+\] node down: |^replacing crashed worker gw\d+",
    r"error while loading shared libraries|symbol lookup error|dyld(?:\[\d+\])?: Library not loaded",
    r"^(?:fatal: )?[Oo]ut of memory\b|^MemoryError\b|Cannot allocate memory",
)
"""A program that died."""

TEST_BEGINS = re.compile(
    r"^\[ RUN      \] (?P<gtest>\S+)|^=== RUN\s+(?P<go>\S+)|^Test Case '(?P<xctest>[^']+)' started"
    r"|^\s+Start\s+\d+: (?P<ctest>\S+)"
    r"|^(?P<pytest>\S+\.py::\S+) *$|^test (?P<rust>[\w:]+) \.\.\. *$|^(?P<unittest>\w+ \([\w.]+\)) \.\.\. *$"
    r"|^.*[Ee]ntering test case \"(?P<boost>[^\"]+)\""
)
"""A runner begins a test: GoogleTest and cmocka, Go, XCTest, CTest, pytest -v, Rust, unittest -v, Boost.Test."""

TAP_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#|$)")
TAP_RESULT = re.compile(r"^(?:not )?ok\b")
"""The number of tests that a TAP producer announces, and the line of each."""

TIMEOUT = _any(
    _caseless(r"\btimed out\b|\btime(?:out| limit)(?: of \S+ \w+)? (?:expired|exceeded|reached)|^timeout: (?!\s*\d)"),
    r"\bTimeoutExpired\b|^(?:E\s+)?(?:Failed: Timeout|TimeoutError)\b|^Stopped after [\d.]+ s, the time allowed",
)
"""A program that did not finish in time."""

TRACEBACK = re.compile(r"^[\s|+]*(?:Exception Group )?Traceback \(most recent call last\):\s*$")
TRACEBACK_END = re.compile(r"^(?:\s+[|+] )?[A-Za-z_][\w.]*(?:: .*|:)?$")
"""Where a traceback begins, and the line with which it ends, whatever the exception is called."""

THROWN = re.compile(r"^(?:Uncaught |Exception in thread \S+ )?(?!SyntaxError)(?:[\w.$]+\.)?\w*(?:Error|Exception)\b.*")
STACK_FRAME = re.compile(r"^\s+at \S")
"""What JavaScript and the JVM print of an exception that nobody caught."""

UNITTEST = re.compile(r"^(?:FAIL|ERROR): \w+ \([\w.]+\)")
"""The title of a failing test in unittest's report."""

_MAKE = r"^(?:g?make|gmake|mingw32-make)(?:\[\d+\])?: (?:\*\*\*|•••) "
_MAKE_TARGET = _MAKE + r"\[(?:[^\]:：]+[:：]\d+ ?[:：] ?)?(?P<target>[^\]]+)\] "
MAKE_STOPPED = re.compile(_MAKE_TARGET + r"\D*?(?P<code>\d+)(?: \(.*\))?\s*$")
"""make, in any language: the command for a target failed with a code."""

MAKE_SIGNAL = re.compile(_MAKE_TARGET + r"(?P<what>[^\d'\"‘’“”„«»`「」]+)$")
"""make, in any language: the command for a target died of a signal. A file that make deletes is quoted."""

MAKE_FATAL = re.compile(_MAKE + r"(?!\[)(?!.*(?:\.{3,}|…)$)|^\S*[Mm]akefile\S*:\d+: \*\*\* ")
"""make, in any language, cannot go on: no rule, no makefile, a makefile that does not parse. Waiting for jobs does not
count."""

USAGE = re.compile(r"(?m)^(?:ERROR: )?usage: |unrecognized arguments|unrecognized option")
"""A command line that is wrong: this says nothing about the code."""

PASSED = re.compile(
    r"(?i)^(?!.*\b[1-9]\d* (?:failed|failures?|errors?)\b)(?:.*\b0 (?:failed|failures?)\b|OK$"
    r"|.*(?<!/)(?<!of )\b\d+ (?:tests? |checks? )?passed\b|.*\b(?P<n>\d+)(?:/| of )(?P=n) (?:tests? )?passed\b"
    r"|.*\b100% tests passed)"
)
"""A summary that says that nothing failed."""

TEST_COMMAND = re.compile(
    r"\b(?:py\.?test|unittest|nosetests|ctest|prove|tox|nox|doctest|meson test)\b"
    r"|\b(?:cargo|go|npm|yarn|pnpm|dotnet|mix|swift) (?:run )?test\b"
    r"|\b(?:g?make|ninja)\b[^;&|]*\b(?:tests?|check)\b"
    r"|(?:^|[\s;&/])(?:run[_-]?)?tests?(?:[_-]\w+)?(?:\.sh)?(?:\s|$|;|&)|[\w-]+_tests?\b"
)
PATCH_COMMAND = re.compile(
    r"^\s*(?:git (?:apply|am|cherry-pick|merge|rebase|stash pop)|patch)\b|\bapply (?:edit|patch|diff|block)"
)
BUILD_COMMAND = re.compile(
    r"(?:^|[\s;&|/])(?:g?make|cmake|ninja|meson compile|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|tcc|ld|cargo build"
    r"|go (?:build|vet)|rustc|javac|tsc|flex|bison|yacc|meson setup|autoreconf|py_compile)(?:-[\d.]+)?(?:\s|$)"
)
