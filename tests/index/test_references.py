# ruff: noqa: E501
from __future__ import annotations

import json
from pathlib import Path

from agent.index import Index
from tests.index.helpers import repository, write

C_PROJECT = {
    "include/lib/ring.h": "struct ring;\nint ring_push(struct ring *r);\nint ring_pop(struct ring *r);\n",
    "src/ring.c": '#include <lib/ring.h>\n#include "util.h"\nstatic int helper(void) { return clamp(1); }\n'
    "int ring_push(struct ring *r) { return helper(); }\nint ring_pop(struct ring *r) { return 0; }\n",
    "src/util.h": "int clamp(int v);\n",
    "src/util.c": '#include "util.h"\n#include <stdlib.h>\nstatic int helper(void) { return 2; }\nint clamp(int v) { return abs(v) + helper(); }\n',
    "app/main.c": '#include <stdio.h>\n#include "ring.h"\nint main(void) { printf("x"); return ring_push(0); }\n',
    "Makefile": "CFLAGS += -Iinclude/lib -I $(CURDIR)/include\n",
}


def opened(root: Path, files: dict[str, str]) -> Index:
    index = Index.open(repository(root / "r", files))
    index.refresh()
    return index


def keys(symbols: list) -> set[str]:
    return {s.key for s in symbols}


def test_includes_are_found_by_flags_folders_and_suffix(tmp_path: Path) -> None:
    index = opened(tmp_path, C_PROJECT)
    assert index.imports_of("src/ring.c") == ["include/lib/ring.h", "src/util.h"]
    assert index.imports_of("app/main.c") == ["include/lib/ring.h"]
    assert index.used_by("include/lib/ring.h") == ["app/main.c", "src/ring.c"]


def test_calls_cross_files(tmp_path: Path) -> None:
    index = opened(tmp_path, C_PROJECT)
    [push] = [s for s in index.find_symbols("ring_push") if s.kind == "function"]
    assert keys(index.callers(push)) == {"app/main.c:main"}
    assert keys(index.callees(push)) == {"src/ring.c:helper"}
    [helper] = [s for s in index.find_symbols("helper") if s.path == "src/ring.c"]
    assert keys(index.callees(helper)) == {"src/util.c:clamp"}
    [prototype] = [s for s in index.find_symbols("ring_push") if s.kind == "prototype"]
    assert keys(index.callers(prototype)) == {"app/main.c:main"}


def test_static_functions_of_one_name_stay_apart(tmp_path: Path) -> None:
    index = opened(tmp_path, C_PROJECT)
    by_path = {s.path: s for s in index.find_symbols("helper")}
    assert keys(index.callers(by_path["src/util.c"])) == {"src/util.c:clamp"}
    assert keys(index.callers(by_path["src/ring.c"])) == {"src/ring.c:ring_push"}


def test_headers_and_sources_pair_by_what_they_declare_and_by_name(tmp_path: Path) -> None:
    index = opened(
        tmp_path,
        {
            **C_PROJECT,
            "src/empty.h": "",
            "src/empty.c": "",
            "api.h": "int ring_reset(void);\n",
            "impl.c": "int ring_reset(void) { return 0; }\n",
        },
    )
    assert index.pair_of("include/lib/ring.h") == "src/ring.c"
    assert index.pair_of("src/ring.c") == "include/lib/ring.h"
    assert index.pair_of("api.h") == "impl.c"
    assert index.pair_of("src/empty.c") == "src/empty.h"
    assert index.pair_of("app/main.c") is None and index.pair_of("Makefile") is None


def test_search_paths_come_from_the_compilation_database_and_the_config(tmp_path: Path) -> None:
    files = {"deep/er/a.h": "", "x/b.h": "", "c.c": "#include <a.h>\n#include <b.h>\n", "other/a.h": ""}
    root = repository(tmp_path / "r", files)
    write(
        root,
        {"compile_commands.json": json.dumps([{"directory": str(root), "command": "cc -I deep/er -c c.c", "file": "c.c"}])},
    )
    index = Index.open(root, include_paths=["x"])
    index.refresh()
    assert index.imports_of("c.c") == ["deep/er/a.h", "x/b.h"]


def test_a_changed_makefile_changes_what_includes_mean(tmp_path: Path) -> None:
    index = opened(tmp_path, {"one/a.h": "", "two/a.h": "", "m.c": "#include <a.h>\n", "Makefile": "CFLAGS = -Ione\n"})
    assert index.imports_of("m.c") == ["one/a.h"]
    write(index.root, {"Makefile": "CFLAGS = -Itwo\n"})
    index.refresh()
    assert index.imports_of("m.c") == ["two/a.h"]


PYTHON = {
    "src/pkg/__init__.py": "from ._core import Engine\n",
    "src/pkg/_core.py": "import os\nimport httpx\nfrom .util import tidy\n\nclass Engine:\n    def run(self):\n        return tidy(os.getcwd())\n",
    "src/pkg/util.py": "def tidy(x):\n    return x\n",
    "src/pkg/sub/__init__.py": "",
    "src/pkg/sub/leaf.py": "from ..util import tidy as neat\nfrom pkg import Engine\n\ndef go():\n    return neat(Engine())\n",
    "src/pkg/queue.py": "",
    "tests/test_leaf.py": "from pkg.sub import leaf\nimport helper\nimport queue\n\ndef test_go():\n    leaf.go()\n",
    "tests/helper.py": "",
}


def test_python_imports_resolve_over_src_relative_and_packages(tmp_path: Path) -> None:
    index = opened(tmp_path, PYTHON)
    assert index.imports_of("src/pkg/__init__.py") == ["src/pkg/_core.py"]
    assert index.imports_of("src/pkg/_core.py") == ["src/pkg/util.py"]
    assert index.imports_of("src/pkg/sub/leaf.py") == ["src/pkg/__init__.py", "src/pkg/util.py"]
    assert index.imports_of("tests/test_leaf.py") == ["src/pkg/sub/leaf.py", "tests/helper.py"]


def test_python_callers_through_packages(tmp_path: Path) -> None:
    index = opened(tmp_path, PYTHON)
    [engine] = index.find_symbols("Engine")
    assert keys(index.callers(engine)) == {"src/pkg/sub/leaf.py:go"}
    [go] = index.find_symbols("go")
    assert keys(index.callees(go)) == {"src/pkg/_core.py:Engine", "src/pkg/util.py:tidy"}
    [tidy] = index.find_symbols("tidy")
    assert keys(index.callers(tidy)) == {"src/pkg/_core.py:Engine.run", "src/pkg/sub/leaf.py:go"}
    assert keys(index.callers(go)) == {"tests/test_leaf.py:test_go"}
    assert index.find_symbols("Engine.run") and not index.find_symbols("Other.run")


def test_a_package_may_hand_a_name_on_under_another(tmp_path: Path) -> None:
    files = {
        "src/pkg/__init__.py": "from .core import beta as B\n__all__ = ['B']\n",
        "src/pkg/core.py": "from . import other\ndef beta():\n    return other.loop()\n",
        "src/pkg/other.py": "from pkg import core\ndef loop():\n    return core.beta()\n",
        "outer/__init__.py": "from pkg import B as Bee\n",
        "use.py": "from pkg import B\ndef use():\n    return B()\n",
        "far.py": "from outer import Bee as bee\ndef far():\n    return bee()\n",
        "own.py": "import pkg\ndef B():\n    return pkg\ndef mine():\n    return B()\n",
        "ns/deep/leaf.py": "def leaf():\n    return 1\n",
        "ns/near.py": "from ns.deep.leaf import leaf\ndef near():\n    return leaf()\n",
    }
    index = opened(tmp_path, files)
    [beta] = index.find_symbols("beta")
    assert keys(index.callers(beta)) == {"src/pkg/other.py:loop", "use.py:use", "far.py:far"}
    [far] = index.find_symbols("far")
    assert keys(index.callees(far)) == {"src/pkg/core.py:beta"}
    [mine] = index.find_symbols("mine")
    assert keys(index.callees(mine)) == {"own.py:B"}
    [leaf] = index.find_symbols("leaf")
    assert keys(index.callers(leaf)) == {"ns/near.py:near"}  # a namespace package: no __init__.py on the way


def test_library_symbols_are_what_comes_from_outside(tmp_path: Path) -> None:
    index = opened(tmp_path, {**C_PROJECT, **PYTHON})
    c = {(s.kind, s.name) for s in index.library_symbols(["src/util.c", "app/main.c"])}
    assert c == {("header", "stdlib.h"), ("call", "abs"), ("header", "stdio.h"), ("call", "printf")}
    python = {(s.module, s.name) for s in index.library_symbols(["src/pkg/_core.py"])}
    assert python == {("os", "os"), ("httpx", "httpx")}
