"""Python functions that are not written yet. The rules are those of :mod:`agent.language.stubs`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from agent.language.nesting import UNREADABLE
from agent.language.stubs import UNWRITTEN, Evidence, Stub
from agent.textfile import lines_of

_ABSTRACT = re.compile(r"\b(?:abstractmethod|overload|abstractproperty)\b")
_IDLE = re.compile(r"(?i)\b(?:hooks?|overrid\w+|subclass\w*|nothing|no-?op|ignore[sd]?|swallows?|by default)\b")
"""Words by which a docstring says that its function is empty on purpose."""

_MODEL_CLASSES = re.compile(r"\b(?:Protocol|ABC|ABCMeta)\b")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def find_stubs(source: bytes, tested: Collection[str] = ()) -> list[Stub]:
    """The stubs of a Python file, in source order; none when it does not parse. ``tested`` are words of the tests."""
    try:
        tree = ast.parse(source)
    except UNREADABLE:
        return []
    lines = lines_of(source.decode("utf-8", "replace"))
    overridden = _overridden(tree)
    graded = []
    called, tested = _called_in(tree), frozenset(tested)
    for name, node, owner in _functions(tree):
        evidence = _evidence(node, owner, lines, name in overridden)
        if evidence != "none":
            graded.append((_stub(name, node), evidence, _drops_what_tests_give(node, owner, tested - called)))
    skeleton = _is_skeleton(tree, len(graded), tested)
    company = any(evidence == "certain" for _, evidence, _ in graded)
    return [
        stub
        for stub, evidence, dropping in graded
        if skeleton or evidence == "certain" or dropping or (company and not _is_special(stub))
    ]


def _drops_what_tests_give(node: _Function, owner: ast.ClassDef | None, tested: frozenset[str]) -> bool:
    """Whether tests name a public function that takes values and does nothing with them. One that is decorated, says that it
    does nothing or overrides a method of a base may be empty on purpose."""
    name = owner.name if owner is not None and node.name == "__init__" else node.name
    meant = name.startswith("_") or bool(node.decorator_list) or (owner is not None and bool(owner.bases))
    meant = meant or _IDLE.search(ast.get_docstring(node) or "") is not None
    return name in tested and not meant and len(node.args.args) > (owner is not None)


def _called_in(tree: ast.Module) -> frozenset[str]:
    """Functions and methods that the file itself calls: an empty one among these is a hook."""
    calls = [one.func for one in ast.walk(tree) if isinstance(one, ast.Call)]
    return frozenset(one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in calls)


def _is_special(stub: Stub) -> bool:
    """Whether Python itself calls it: an empty ``__exit__`` does its work, an empty ``__init__`` seldom."""
    name = stub.name.rpartition(".")[2]
    return name.startswith("__") and name != "__init__"


def _is_skeleton(tree: ast.Module, open_ones: int, tested: Collection[str]) -> bool:
    """Whether nothing in the file is written: every function is open, and one of them takes a value or is tested, so that
    they are no hooks for others to fill."""
    every = list(_functions(tree))
    taking = any(len(node.args.args) > (owner is not None) for _, node, owner in every)
    used = {name for _, node, owner in every for name in (node.name, owner.name if owner is not None else "")}
    return bool(every) and open_ones == len(every) and (taking or not used.isdisjoint(tested))


def _functions(
    tree: ast.AST, prefix: str = "", owner: ast.ClassDef | None = None
) -> Iterator[tuple[str, _Function, ast.ClassDef | None]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function):
            yield prefix + node.name, node, owner
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.", node)
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _functions(node, prefix, owner)


def _overridden(tree: ast.Module) -> set[str]:
    """``Class.method`` for every method that a subclass in the same file defines: left open there on purpose."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    found = set()
    for node in classes.values():
        own = {child.name for child in node.body if isinstance(child, _Function)}
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            found |= {f"{name}.{method}" for method in own}
    return found


def _evidence(node: _Function, owner: ast.ClassDef | None, lines: list[str], overridden: bool) -> Evidence:
    if overridden or any(_ABSTRACT.search(ast.unparse(decorator)) for decorator in node.decorator_list):
        return "none"
    if owner is not None and any(_MODEL_CLASSES.search(ast.unparse(base)) for base in [*owner.bases, *owner.keywords]):
        return "none"
    body = [statement for statement in node.body if not _is_text(statement)]
    if node.name == "__init__" and len(node.args.args) > 1 and body and all(_sets_nothing(statement) for statement in body):
        return "weak"
    if not all(_trivial(statement) for statement in body):
        return "none"
    comments = re.findall(r"#.*", "".join(lines[node.lineno - 1 : node.end_lineno]))
    if UNWRITTEN.search(" ".join([*comments, *_strings(node)])):
        return "certain"
    if any(isinstance(statement, ast.Expr) for statement in body):
        return "certain"
    returns = node.returns is not None and ast.unparse(node.returns) not in ("None", "'None'", "Any", "object")
    only_pass = all(isinstance(statement, ast.Pass) for statement in body)
    if only_pass and returns and "None" not in ast.unparse(node.returns or ast.Constant(None)):
        return "certain"
    if only_pass and node.name == "__init__":
        return "certain" if _drops_its_values(node, owner) else "weak"
    return "weak" if only_pass else "none"


def _drops_its_values(node: _Function, owner: ast.ClassDef | None) -> bool:
    """Whether an empty ``__init__`` takes values and is all that its class has: such an object can do nothing."""
    alone = owner is not None and not owner.bases and all(one is node or _is_text(one) for one in owner.body)
    return alone and len(node.args.args) > 1


def _strings(node: _Function) -> list[str]:
    raised = [child for child in ast.walk(node) if isinstance(child, ast.Raise)]
    return [ast.get_docstring(node) or "", *(ast.unparse(child) for child in raised)]


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _trivial(statement: ast.stmt) -> bool:
    """``pass``, ``...``, ``raise NotImplementedError`` or a return of a constant or an empty container."""
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) and statement.value.value is Ellipsis
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return "NotImplemented" in ast.unparse(statement.exc)
    if isinstance(statement, ast.Return):
        value = statement.value
        empty = isinstance(value, (ast.List, ast.Tuple, ast.Dict)) and ast.unparse(value) in ("[]", "()", "{}")
        return value is None or isinstance(value, ast.Constant) or empty
    return False


def _sets_nothing(statement: ast.stmt) -> bool:
    """``self.value = None``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    return statement.value.value is None and all(isinstance(target, ast.Attribute) for target in statement.targets)


def _stub(name: str, node: _Function) -> Stub:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    arguments = ast.unparse(node.args)
    arrow = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    keyword = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return Stub(
        name=name,
        line=first,
        end_line=node.end_lineno or node.lineno,
        signature=f"{keyword} {node.name}({arguments}){arrow}",
        doc=ast.get_docstring(node) or "",
    )
