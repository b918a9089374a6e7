"""Names that a Python file uses and nothing binds, and the imports that facts alone can supply."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence

from pyflakes.checker import Checker
from pyflakes.messages import ImportStarUsed, UndefinedName

from agent.language.nesting import UNREADABLE
from agent.textfile import lines_of, read_text

_HOMES = {
    "typing": ("Any", "Optional", "Union", "List", "Dict", "Tuple", "Set", "Callable", "Protocol", "TypeVar", "Literal"),
    "collections.abc": ("Iterable", "Iterator", "Sequence", "Mapping", "Generator", "Awaitable", "Hashable"),
    "collections": ("defaultdict", "Counter", "deque", "OrderedDict", "namedtuple"),
    "dataclasses": ("dataclass", "field", "asdict"),
    "pathlib": ("Path",),
    "functools": ("lru_cache", "cache", "partial", "wraps", "cached_property", "reduce", "total_ordering", "cmp_to_key"),
    "itertools": ("chain", "islice", "groupby", "product", "permutations", "combinations", "combinations_with_replacement",
                  "accumulate", "zip_longest", "cycle", "repeat", "takewhile", "dropwhile", "starmap", "pairwise"),
    "enum": ("Enum", "IntEnum"),
    "abc": ("ABC", "abstractmethod"),
    "contextlib": ("contextmanager", "suppress"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "math": ("ceil", "floor", "sqrt", "isqrt", "isclose", "inf", "pi", "gcd", "lcm", "prod", "comb", "factorial", "hypot",
             "log", "log2", "log10", "sin", "cos", "tan", "radians"),
    "operator": ("itemgetter", "attrgetter", "mul"),
    "string": ("ascii_lowercase", "ascii_uppercase", "ascii_letters", "punctuation"),
    "heapq": ("heappush", "heappop", "heapify"),
    "bisect": ("bisect_left", "bisect_right", "insort"),
    "copy": ("deepcopy",),
    "random": ("randint", "choice", "sample", "shuffle"),
    "datetime": ("timedelta",),
    "textwrap": ("dedent",),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def undefined_names(source: bytes) -> set[str]:
    """Names read in ``source`` that no scope, import or builtin binds, as pyflakes finds them; those of annotations in
    strings, too. Empty when it does not parse or imports ``*``."""
    return {name for name, _, _ in unbound_uses(source)}


def unbound_uses(source: bytes) -> list[tuple[str, int, int]]:
    """Each use of such a name, with its line (from 1) and its column in bytes."""
    try:
        messages = Checker(ast.parse(source)).messages
    except UNREADABLE:
        return []
    if any(isinstance(message, ImportStarUsed) for message in messages):
        return []
    found = [message for message in messages if isinstance(message, UndefinedName)]
    return [(message.message_args[0], message.lineno, message.col) for message in found]


def has_home(name: str) -> bool:
    """Whether :func:`with_imports` may know where the name comes from."""
    return name in _HOME_OF or name in sys.stdlib_module_names


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
    return (insert_imports(source, lines), tuple(lines)) if lines else (source, ())


def insert_imports(source: bytes, lines: Sequence[str]) -> bytes:
    """``source`` with import lines that it lacks, after its last import. Raises SyntaxError when it does not parse."""
    file = read_text(source)
    parts = lines_of(file.text)
    at = import_line(ast.parse(source))
    if at and not parts[at - 1].endswith("\n"):
        parts[at - 1] += file.newline
    parts[at:at] = [file.with_newlines("\n".join(lines) + "\n")]
    return file.encode("".join(parts))


def import_line(tree: ast.Module) -> int:
    """How many lines stand before the place for a new import: after the last top-level import, else after the docstring."""
    imports = [one.end_lineno or one.lineno for one in tree.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    if imports:
        return max(imports)
    return (tree.body[0].end_lineno or 0) if tree.body and ast.get_docstring(tree) is not None else 0
