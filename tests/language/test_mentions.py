"""Who outside of a language's own package names a language: an allow-list that may only shrink.

Counted are imports of ``agent.c`` and ``agent.python``, and literals that are a language's name or suffix.
``agent/compiling`` is left out, whose whole subject is what a C compiler says, and so is the language that an operator of
repair is declared for.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from agent.languages import LANGUAGES

ROOT = Path(__file__).parents[2]
OWN = ("agent/c/", "agent/python/", "agent/languages.py", "agent/compiling/", "agent/repair/operators/c_only.py",
       "agent/repair/operators/python_only.py")
ALLOWED = {
    "agent/coding/open_items.py": 7,
    "agent/coding/writing/candidates.py": 1,
    "agent/coding/writing/compiled_candidate.py": 4,
    "agent/coding/writing/declaration.py": 2,
    "agent/coding/writing/functions.py": 4,
    "agent/coding/writing/missing_helper.py": 1,
    "agent/coding/writing/prompt_context.py": 1,
    "agent/coding/writing/scaffold.py": 7,
    "agent/coding/writing/shared_helper.py": 3,
    "agent/coding/writing/type_definition.py": 3,
    "agent/flow/isolated_tests.py": 1,
    "agent/flow/planned_stubs.py": 1,
    "agent/flow/test_contract.py": 4,
    "agent/repair/commands.py": 1,
    "agent/repair/operators/registry.py": 1,
    "agent/workspace/junit.py": 1,
    "agent/workspace/protected.py": 5,
    "agent/workspace/sandbox.py": 1,
}
"""The writing of C by declarations, prototypes and stubs; repairs by operators a language; the runners of tests."""


def mentions(source: str) -> int:
    """How often a module names a language, docstrings and the declarations of operators left out."""
    words = {word for language in LANGUAGES for word in (language.name, *language.suffixes)}
    tree = ast.parse(source)
    modules = {f"agent.{language.name}" for language in LANGUAGES}
    declared = {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "operator"
        for inside in ast.walk(call)
    }
    found = 0
    for node in (one for one in ast.walk(tree) if id(one) not in declared):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += node.value in words
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += ".".join(node.module.split(".")[:2]) in modules
    return found


def test_nobody_else_begins_to_name_a_language() -> None:
    counted: Counter[str] = Counter()
    for path in sorted((ROOT / "agent").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OWN):
            counted[name] = mentions(path.read_text(encoding="utf-8"))
    more = {name: count for name, count in counted.items() if count > ALLOWED.get(name, 0)}
    assert more == {}, "ask agent.languages instead: the protocol is agent/language/base.py"


def test_a_mention_is_seen() -> None:
    assert mentions("from agent.c.files import is_source\nif suffix == '.py' or name == 'c':\n    pass\n") == 3
    assert mentions("@operator('x', 'y', ('c',))\ndef x(): ...\n") == 0
    assert mentions('"""C and .py."""\nfrom agent.languages import named\n') == 0
