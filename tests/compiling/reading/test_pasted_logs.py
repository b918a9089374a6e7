"""Logs as people paste them: other compilers, lost colours, prefixes on some lines; and what was not read is said so."""

import json

import pytest

from agent.compiling.reading.diagnostics import parse_text
from agent.compiling.reading.symptoms import symptoms
from tests.compiling.helpers import check

LED = "#ifndef LED_H\n#define LED_H\nvoid led_toggle(void);\n#endif\n"
MAIN = '#include "led.h"\n\nvoid blink(int times)\n{\n    uint8_t n;\n    led_toggle();\n    memset(&n, 0, sizeof n);\n}\n'

OTHER_COMPILERS = {
    "armcc": '"main.c", line 5: Error:  #20: identifier "uint8_t" is undefined\n'
    '"main.c", line 7: Warning:  #223-D: function "memset" declared implicitly\nmain.c: 1 warning, 1 error\n',
    "ti": '"main.c", line 5: error #20: identifier "uint8_t" is undefined\n'
    '"main.c", line 7: warning #225-D: function "memset" declared implicitly\n1 error detected\n',
    "iar": '\n      uint8_t n;\n      ^\n"/home/u/main.c",5  Error[Pe020]: identifier "uint8_t" is undefined\n\n'
    '"/home/u/main.c",7  Warning[Pe223]: function "memset" declared implicitly\n\nErrors: 1\n',
    "icc": "main.c(5): error: identifier \"uint8_t\" is undefined\n      uint8_t n;\n      ^\n\n"
    'main.c(7): warning #266: function "memset" declared implicitly\n',
    "sdcc": "main.c:5: syntax error: token -> 'n' ; column 14\nmain.c:5: error 20: Undefined identifier 'uint8_t'\n"
    "main.c:7: warning 112: function 'memset' implicit declaration\n",
    "msvc": "main.c\nmain.c(5): error C2065: 'uint8_t': undeclared identifier\n"
    "main.c(7): warning C4013: 'memset' undefined; assuming extern returning int\n",
    "msvc-build": "C:\\w\\main.c(5,5): error C2061: syntax error: identifier 'uint8_t' [C:\\w\\p.vcxproj]\n"
    "C:\\w\\main.c(7,5): warning C4013: 'memset' undefined; assuming extern returning int [C:\\w\\p.vcxproj]\n",
    "keil": "*** ERROR C202 IN LINE 5 OF main.c: 'uint8_t': undefined identifier\n"
    "*** WARNING C206 IN LINE 7 OF main.c: 'memset': missing function-prototype\n",
    "sun": '"main.c", line 5: undefined symbol: uint8_t\n"main.c", line 7: warning: implicit function declaration: memset\n'
    "cc: acomp failed for main.c\n",
    "xlc": '"main.c", line 5.5: 1506-045 (S) Undeclared identifier uint8_t.\n'
    '"main.c", line 7.5: 1506-304 (I) No function prototype given for "memset".\n',
    "watcom": "main.c(5): Error! E1011: Symbol 'uint8_t' has not been declared\n"
    "main.c(7): Warning! W131: No prototype found for function 'memset'\n",
    "borland": "Error E2451 main.c 5: Undefined symbol 'uint8_t' in function blink\n"
    "Warning W8065 main.c 7: Call to function 'memset' with no prototype in function blink\n",
    "armcc-columns": '"main.c", line 5 (column 5): Error:  #20: identifier "uint8_t" is undefined\n'
    '"main.c", line 7 (column 5): Warning:  #223-D: function "memset" declared implicitly\n',
    "nvc": 'NVC++-S-0155-identifier "uint8_t" is undefined  (main.c: 5)\n'
    'NVC++-W-0155-function "memset" declared implicitly  (main.c: 7)\n',
    "renesas": 'main.c(5):E0520020:Identifier "uint8_t" is undefined\n'
    'main.c(7):W0520223:Function "memset" declared implicitly\n',
    "cc65": "main.c(5): Error: Undefined symbol: 'uint8_t'\nmain.c(7): Warning: Call to undeclared function 'memset'\n",
    "pgcc": "PGC-S-0040-Illegal use of symbol, uint8_t (main.c: 5)\n"
    'PGC-W-0155-function "memset" declared implicitly (main.c: 7)\n',
    "xc8": 'main.c:5: error: (192) undefined identifier "uint8_t"\n'
    "main.c:7: warning: (361) function \"memset\" declared implicit int\n",
}


@pytest.mark.parametrize("said", OTHER_COMPILERS.values(), ids=OTHER_COMPILERS)
def test_other_compilers_are_read_for_what_they_say(said: str) -> None:
    found = check(said, main_c=MAIN, led_h=LED).classification
    assert found is not None and found.category == "missing_include"
    assert {"stdint.h", "string.h"} == set(found.headers)


@pytest.mark.parametrize(
    ("name", "header"),
    [("_stricmp", "string.h"), ("sprintf_s", "stdio.h"), ("_itoa", "stdlib.h"), ("_getch", "conio.h")],
)
def test_names_that_only_microsofts_library_has(name: str, header: str) -> None:
    said = f"main.c(1): warning C4013: '{name}' undefined; assuming extern returning int\n"
    source = f"int f(char *s) {{ return (int){name}(s, s); }}\n"
    found = check(said, compiler="cl", main_c=source).classification
    assert found is not None and (found.category, found.headers) == ("missing_include", (header,))
    elsewhere = check(f"main.c:1:30: error: implicit declaration of function '{name}'\n", main_c=source).classification
    assert elsewhere is None or elsewhere.headers == ()


def test_link_and_signature_messages_of_msvc() -> None:
    kinds = [s.kind for s in symptoms(parse_text(
        "main.c(3): error C2371: 'f': redefinition; different basic types\n"
        "main.c(4): error C2198: 'g': too few arguments for call\n"
        "main.c(1): fatal error C1083: Cannot open include file: 'x.h': No such file or directory\n"
    ))]  # fmt: skip
    assert kinds == ["conflict", "arity", "no_file"]


GCC = (
    "main.c: In function ‘nap’:\n"
    "main.c:6:17: error: implicit declaration of function ‘sleep’ [-Werror=implicit-function-declaration]\n"
    "    6 |     return (int)sleep((unsigned)n);\n"
    "      |                 ^~~~~\n"
    "cc1: some warnings being treated as errors\n"
)
NAP = '#include <stdio.h>\n\nint nap(int n)\n{\n    printf("%d\\n", n);\n    return (int)sleep((unsigned)n);\n}\n'


def _each(prefix: str) -> str:
    return "".join(prefix + line + "\n" for line in GCC.splitlines())


def _counted(lead: str) -> str:
    return "".join(f"{lead}{number:>3}    {line}\n" for number, line in enumerate(GCC.splitlines(), 7))


PREFIXED = {
    "yocto": _each("| ") + "ERROR: Task (/l/p.bb:do_compile) failed with exit code '1'\n",
    "compose": "Attaching to web-1\n" + _each("web-1  | ") + "web-1 exited with code 2\n",
    "nix": "error: builder for '/nix/store/x.drv' failed with exit code 2;\n       last 5 log lines:\n"
    + _each("       > ") + "       For full logs, run 'nix log'.\n",
    "spack": "==> p: Executing phase: 'build'\n==> [2026-03-01-09:22:29.12] 'make'\n"
    + _counted("  ").replace("   8 ", ">> 8 ", 1),
    "ninja": "[1/2] Building C object main.o\nFAILED: [code=1] main.o\ngcc -c main.c\n" + GCC + "ninja: build stopped.\n",
    "maven": "[INFO] gcc -c main.c\n" + _each("[ERROR] ") + "[INFO] BUILD FAILURE\n",
    "ant": "     [exec] make\n" + _each("     [exec] "),
    "buildx": "#9 [5/5] RUN make\n" + _each("#9 0.412 ") + "#9 ERROR: process did not complete\n",
    "journald": _each("Mar 01 09:22:29 host make[123]: "),
    "github": _each("2026-03-01T09:22:29.1234567Z "),
    "quoted": _each("> "),
}  # fmt: skip


@pytest.mark.parametrize("said", PREFIXED.values(), ids=PREFIXED)
def test_what_runners_put_in_front_is_taken_off(said: str) -> None:
    found = check(said, main_c=NAP).classification
    assert found is not None and found.category == "missing_include" and found.headers == ("unistd.h",)


COLOURED = (
    "\x1b[01m\x1b[Kmain.c:6:17:\x1b[m\x1b[K \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[Kimplicit declaration of function "
    "‘\x1b[01m\x1b[Ksleep\x1b[m\x1b[K’ [\x1b[01;31m\x1b[K\x1b]8;;https://gcc.gnu.org/x\x07-Werror=implicit-function-declaration"
    "\x1b]8;;\x07\x1b[m\x1b[K]\n"
    "    6 |     return (int)\x1b[01;31m\x1b[Ksleep\x1b[m\x1b[K((unsigned)a[m]);\n"
)


@pytest.mark.parametrize(
    "escape",
    ["\x1b", "", "^[", "\\x1b", "\\033", "\\u001b", "\\e", "␛"],
    ids=["real", "lost", "cat-v", "x1b", "033", "u", "e", "picture"],
)
def test_colour_codes_in_every_state(escape: str) -> None:
    bell = "\x07" if escape in ("\x1b", "") else "^G" if escape == "^[" else "\\x07"
    [found] = parse_text(COLOURED.replace("\x1b", escape).replace("\x07", bell))
    assert (found.file, found.line, found.option) == ("main.c", 6, "implicit-function-declaration")
    assert found.message == "implicit declaration of function ‘sleep’"
    assert found.source_line.strip() == "return (int)sleep((unsigned)a[m]);"


@pytest.mark.parametrize(
    "said",
    [
        "make: *** [Makefile:9: main.o] Error 1\n",
        "Build failed, see the log.\n",
        "main.c:6 => ERROR what is this\nmain.c:4:1: error: expected ';' before 'x'\n",
        "%%% main.c line 6 error 17\n",
        "main.c:6:     n = read(0, 0, 1);\n              ^ undefined variable\n",
    ],
)
def test_a_log_that_was_not_read_is_never_called_complete(said: str) -> None:
    verdict = check(said, main_c=NAP)
    assert verdict.classification is None
    assert not any("nothing is missing" in rung.answer for rung in verdict.rungs)


SAID = (
    "a.c: In function ‘main’:\n"
    "a.c:5:19: error: implicit declaration of function ‘strlen’\n"
    "    5 | f(strlen(\"x\"), \"\\n\");\n"
)
KEPT = {
    "a JSON string": json.dumps(SAID),
    "a list of lines": f'fatal: [host]: FAILED! => {{"rc": 2, "stderr_lines": {json.dumps(SAID.splitlines())}}}',
    "Docker's log": "".join(json.dumps({"log": line, "stream": "stderr"}) + "\n" for line in SAID.splitlines(keepends=True)),
    "bytes of Python": repr(SAID.encode()),
    "carriage returns": SAID.replace("\n", "\r"),
    "Vim": "a.c|5 col 19 error| implicit declaration of function ‘strlen’\n",
    "an editor's problems": json.dumps([{
        "resource": "/w/a.c", "severity": 8, "message": "implicit declaration of function ‘strlen’", "source": "gcc",
        "startLineNumber": 5, "startColumn": 19,
    }], indent=4),
}  # fmt: skip


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_a_log_that_another_tool_keeps_is_read(kept: str) -> None:
    source = '#include <stdio.h>\n\nint main(void)\n{\n    printf("%zu\\n", strlen("x"));\n    return 0;\n}\n'
    found = check(kept, target="a.c", a_c=source).classification
    assert found is not None and (found.category, found.headers) == ("missing_include", ("string.h",))
