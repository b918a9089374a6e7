"""Names that a Python file uses and nothing binds, and the imports that facts alone can supply."""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections.abc import Iterable

from agent.language.nesting import UNREADABLE
from agent.textfile import lines_of, read_text

_HOMES = {
    "typing": ("Any", "Optional", "Union", "List", "Dict", "Tuple", "Set", "Callable", "Protocol", "TypeVar", "Literal"),
    "collections.abc": ("Iterable", "Iterator", "Sequence", "Mapping", "Generator", "Awaitable", "Hashable"),
    "collections": ("defaultdict", "Counter", "deque", "OrderedDict", "namedtuple"),
    "dataclasses": ("dataclass", "field", "asdict"),
    "pathlib": ("Path",),
    "functools": ("lru_cache", "partial", "wraps", "cached_property"),
    "itertools": ("chain", "islice", "groupby", "product", "permutations", "combinations"),
    "enum": ("Enum", "IntEnum"),
    "abc": ("ABC", "abstractmethod"),
    "contextlib": ("contextmanager", "suppress"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "math": ("ceil", "floor", "sqrt", "isclose", "inf", "pi"),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_IMPLICIT = frozenset(
    {"__name__", "__file__", "__doc__", "__package__", "__spec__", "__loader__", "__builtins__", "__class__"}
)


def undefined_names(source: bytes) -> set[str]:
    """Names read in ``source`` that no scope, import or builtin binds. Empty when it does not parse or imports ``*``."""
    try:
        tree = ast.parse(source)
        table = symtable.symtable(source.decode("utf-8", "replace"), "file", "exec")
    except UNREADABLE:
        return set()
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return set()
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    bound |= {child.get_name() for child in table.get_children()}
    bound |= {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
    found: set[str] = set()
    scopes = [table]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for symbol in scope.get_symbols():
            outside = symbol.is_global() if scope is not table else not (symbol.is_assigned() or symbol.is_imported())
            if symbol.is_referenced() and outside:
                found.add(symbol.get_name())
    return {name for name in found - bound - _IMPLICIT if not hasattr(builtins, name)}


def with_imports(source: bytes, names: Iterable[str]) -> tuple[bytes, tuple[str, ...]]:
    """``source`` with imports for those of ``names`` whose home is known: standard modules used as ``name.x``, and a short
    table of names that small models forget. Returns the import lines put in as well."""
    tree = ast.parse(source)
    bases = {
        node.value.id for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    lines = []
    for name in sorted(names):
        if name in _HOME_OF:
            lines.append(f"from {_HOME_OF[name]} import {name}")
        elif name in sys.stdlib_module_names and name in bases:
            lines.append(f"import {name}")
    if not lines:
        return source, ()
    file = read_text(source)
    parts = lines_of(file.text)
    at = import_line(tree)
    if at and not parts[at - 1].endswith("\n"):
        parts[at - 1] += file.newline
    parts[at:at] = [file.with_newlines("\n".join(lines) + "\n")]
    return file.encode("".join(parts)), tuple(lines)


def import_line(tree: ast.Module) -> int:
    """How many lines stand before the place for a new import: after the last top-level import, else after the docstring."""
    imports = [one.end_lineno or one.lineno for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    if imports:
        return max(imports)
    return (tree.body[0].end_lineno or 0) if tree.body and ast.get_docstring(tree) is not None else 0
