"""The house keeps its shape: no circles between modules or rooms, no citation that a reader cannot open, a true map."""

from __future__ import annotations

import re
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [path for folder in ("agent", "screens", "tui") for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Each module of the product with the modules that it imports."""
    graph = grimp.build_graph("agent", "screens", "tui")
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def circles(edges: dict[str, set[str]]) -> list[set[str]]:
    """The groups of nodes that reach each other (strongly connected components of more than one node)."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for node in edges.get(waiting.pop(), set()) - found:
                found.add(node)
                waiting.append(node)
        return found

    after = {node: reached(node) for node in edges}
    groups = ({other for other in after[node] if node in after.get(other, set())} for node in edges)
    return [set(group) for group in {frozenset(group) for group in groups if len(group) > 1}]


def test_no_module_imports_itself_through_others(imports: dict[str, set[str]]) -> None:
    assert circles(imports) == []


def test_no_room_imports_itself_through_others(imports: dict[str, set[str]]) -> None:
    def room(module: str) -> str:
        return ".".join(module.split(".")[:2])

    rooms: dict[str, set[str]] = {}
    for module, imported in imports.items():
        rooms.setdefault(room(module), set()).update(map(room, imported))
    assert circles({name: others - {name} for name, others in rooms.items()}) == []


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]


def test_nothing_is_cited_that_a_reader_cannot_open() -> None:
    cites = re.compile(
        r"\(section \d+\)"
        r"|\b(?:design|spec\w*) (?:section|law) \d+|\bseeds? 00\d|\bissue \d+|\(R\d{1,2}\)|\brule R\d+|\"R\d+:",
        re.IGNORECASE,
    )
    found = {str(path.relative_to(ROOT)): cites.findall(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: cited for path, cited in found.items() if cited} == {}


def test_the_glossary_is_short_and_in_use() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", text.split("## Glossary")[1].split("## To add")[0], re.M)
    words = [word.strip() for row in rows[1:] for word in row.split(",") if "---" not in row]
    assert 30 < len(words) <= 40
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES).lower().replace("_", " ")
    assert [word for word in words if word.lower() not in code] == []


def test_every_path_that_the_map_names_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:agent|screens|tui|styles|tests|benchmarks|docs)/[\w./-]*)`", text)
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_tests_mirror_the_tree() -> None:
    others = {"attacks", "consumers", "fakes", "live", "audit/old_logs", "demo_repos/solutions", "language/toy"}
    """Hostile cases, real consumers and models, what tests stand on, and recorded data."""
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("*.py")} - others - {"."}
    assert {name for name in folders if not any((ROOT / top / name).is_dir() for top in ("agent", "."))} == set()
