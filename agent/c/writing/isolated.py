"""A C file of tests in which each test runs in a process of its own first: one that crashes or does not end fails by
itself, in little time, and the others are still heard.

Two kinds are known: Unity, which counts for itself, and plain ``assert``, which ends the program and for which the outcome
of each test is printed in Unity's form. A test that survives runs once more in the program, so what tests leave to each
other is there. The files stay text that any POSIX compiler builds, and their lines keep their numbers.
"""

from __future__ import annotations

import re

from agent.c.declarations.functions import CFunction, definitions
from agent.language.base import AFTER_ENDLESS, ALONE_SECONDS, ENDLESS, TEST_LIMIT

_RUNTIME = """
static int cra_inside, cra_broken;
static const char *cra_alone(void (*test)(void)) {
  extern int fork(void), waitpid(int, int *, int), open(const char *, int, ...), dup2(int, int);
  extern unsigned int alarm(unsigned int); extern void _exit(int);
  extern unsigned int ualarm(unsigned int, unsigned int); extern char *getenv(const char *);
  static int hung; int child, status = 0; const char *said = getenv("TEST_LIMIT"); unsigned int limit = 0;
  if (cra_inside) { if (cra_inside++ > 1) _exit(0); return 0; }
  for (; said && *said >= '0' && *said <= '9'; said++) limit = limit * 10 + (unsigned int)(*said - '0');
  child = fork();
  if (child == 0) { cra_inside = 1; dup2(open("/dev/null", 1), 1); if (limit) ualarm(limit, 0);
    else if (hung) ualarm(SHORT, 0); else alarm(SECONDS);
    test(); _exit(0); }
  if (child < 0 || waitpid(child, &status, 0) != child || !(status & 127)) return 0;
  cra_broken = 1;
  if ((status & 127) != 14) return (status & 127) == 6 ? "it is aborted" : "it crashes";
  hung = 1; return "ENDLESS";
}
"""
"""In the child a test that an assertion leaves goes on with the next one, which ends the child. SIGABRT is 6, SIGALRM 14."""

_UNITY = re.compile(rb'#\s*include\s*[<"][^>"\n]*unity\.h[>"]')
_ASSERT = re.compile(rb"#\s*include\s*<assert\.h>")
_MAIN_NAME = re.compile(r"\bmain\b")
_FORKS = re.compile(rb"\bfork\s*\(")


def isolated(text: str, path: str) -> str:
    """The file so changed; "" where its tests are of neither kind, or look after themselves. ``path`` is what is said of
    its place."""
    source = text.encode()
    unity = bool(_UNITY.search(source))
    if not (unity or _ASSERT.search(source)) or _FORKS.search(source):
        return ""
    found = [one for one in definitions(source) if not one.conditional]
    tests = [one for one in found if one.name.startswith("test") and not one.parameters and one.returns_void]
    main = next((one for one in found if one.name == "main"), None)
    if len(tests) < 2 or main is None:
        return ""
    parts = [(one.body_start + 1, one.body_start + 1, _first(one, path, unity)) for one in tests]
    behind = ""
    if not unity:
        head = _MAIN_NAME.sub("cra_main", source[main.start : main.body_start].decode("utf-8", "replace"), count=1)
        parts.append((main.start, main.body_start, f"static {head}"))
        behind = _main(main)
    for start, end, new in sorted(parts, reverse=True):
        source = source[:start] + new.encode() + source[end:]
    runtime = " ".join(_RUNTIME.split("\n")).strip()
    values = {"SECONDS": ALONE_SECONDS, "SHORT": AFTER_ENDLESS, "ENDLESS": ENDLESS, "TEST_LIMIT": TEST_LIMIT}
    for word, value in values.items():
        runtime = runtime.replace(word, str(value))
    return f"{runtime}\n#line 1\n{source.decode('utf-8', 'replace')}{behind}"


def _first(test: CFunction, path: str, unity: bool) -> str:
    """What a test begins with."""
    said = f"{{ const char *cra_said = cra_alone({test.name}); "
    if unity:
        return f"{said}if (cra_said) TEST_FAIL_MESSAGE(cra_said); }}"
    place = f"{path}:{test.line}:{test.name}".replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"extern int printf(const char *, ...); {said}"
        f'if (cra_said) {{ printf("%s:FAIL: %s\\n", "{place}", cra_said); return; }} '
        f'if (!cra_inside) printf("%s:PASS\\n", "{place}"); }}'
    )


def _main(main: CFunction) -> str:
    given = "argc, argv" if main.parameters else ""
    return (
        f"\nint main(int argc, char **argv) {{ int code = ((void)argc, (void)argv, cra_main({given})); "
        "return code ? code : cra_broken; }\n"
    )
