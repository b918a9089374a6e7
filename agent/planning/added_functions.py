"""A function that the task names and the repository lacks: where it goes is a fact, so its step needs no model.

C: the header that declares it and the source that goes with it get a declaration and a stub, and the function is written
from those, as every other. Python: the module, or the class, that the task names gets it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from agent.languages import is_interface, is_module, is_unit
from agent.planning.paths import meant, pair_of
from agent.planning.schema import Plan, PlanStep
from agent.planning.target_menu import Target
from agent.task.intent import read_intent
from agent.task.mentions import added_names, looks_like_code, words_in
from agent.workspace.protected import is_test_file

MOST = 6
"""Functions added by one task without a plan of a model; a task that names more is a library (``new_c``)."""


@dataclass(frozen=True)
class KnownNames:
    """What the repository has: the names of all symbols, the path of each Python class, the files a model may write (best
    first), and all files."""

    names: Collection[str] = ()
    classes: Mapping[str, str] = field(default_factory=dict)
    included: Sequence[str] = ()
    files: Sequence[str] = ()


class Added(msgspec.Struct, frozen=True):
    """Names to be added together. ``files`` are a header and its source, or one Python module; ``alone`` when the task asks
    for nothing else."""

    names: tuple[str, ...]
    files: tuple[str, ...]
    alone: bool

    @property
    def targets(self) -> tuple[Target, ...]:
        """The names as a plan of a model may name them."""
        return tuple(Target(self.files[0], name, "new, to be added") for name in self.names)


def find_added(task: str, around: KnownNames) -> Added | None:
    """The functions that ``task`` wants added, with the files they go to; None when it names none, repairs or reshapes
    something, or does not say where and there is no only place."""
    intent = read_intent(task)
    if intent.repairs or intent.reshapes or intent.adds_no_function:
        return None
    names = _new_names(task, around)
    if not names or len(names) > MOST:
        return None
    owner = _owner(task, around)
    if owner:
        files: tuple[str, ...] = (around.classes[owner],)
        names = tuple(name if "." in name else f"{owner}.{name}" for name in names)
    else:
        files = _home(task, around)
    return Added(names, files, not intent.wires) if files else None


def added_steps(task: str, added: Added) -> tuple[PlanStep, ...]:
    """One scaffold step for C, whose functions follow from it; one step for a Python module."""
    kind = "scaffold" if is_interface(added.files[0]) else "implement"
    return (PlanStep("s1", " ".join(task.split()), added.files, added.names, (), "", kind),)  # type: ignore[arg-type]


def with_added(plan: Plan, task: str, added: Added) -> Plan:
    """A model's plan with the new functions in a first step of their own; the other steps no longer name them."""
    first = msgspec.structs.replace(added_steps(task, added)[0], id="a1")
    own = {name for target in added.targets for name in (target.symbol, target.symbol.rpartition(".")[2])}
    kept: list[PlanStep] = []
    gone: set[str] = set()
    for step in plan.steps:
        left = tuple(symbol for symbol in step.target_symbols if symbol not in own)
        if step.target_symbols and not left:
            gone.add(step.id)
            continue
        needs = tuple(dict.fromkeys((first.id, *(d for d in step.depends_on if d not in gone))))
        kept.append(msgspec.structs.replace(step, target_symbols=left, depends_on=needs))
    return msgspec.structs.replace(plan, steps=(first, *kept))


def _new_names(task: str, around: KnownNames) -> tuple[str, ...]:
    """Names of functions that the task adds and that do not exist yet."""
    found: dict[str, None] = {}
    for run in added_names(task):
        for name, sure in run:
            if not (sure or "." in name or looks_like_code(name)) or not _is_free(name, around):
                break
            found[name] = None
    return tuple(found)


def _is_free(name: str, around: KnownNames) -> bool:
    return name.rpartition(".")[2] not in around.names and name not in around.classes


def _owner(task: str, around: KnownNames) -> str:
    """The Python class that the task names, if it is one, and only one."""
    words = words_in(task)
    named = [name for name in around.classes if name in words and (name[:1].isupper() or f"`{name}`" in task)]
    return named[0] if len(named) == 1 else ""


def _home(task: str, around: KnownNames) -> tuple[str, ...]:
    """Header and source, or the module: of the files that the task names, else the only ones that retrieval included."""
    named = [path for written in read_intent(task).files if (path := meant(written, around.files))]
    pool = [path for path in dict.fromkeys(named or around.included) if not is_test_file(path)]
    modules = [path for path in pool if is_module(path)]
    headers = list(dict.fromkeys(header for path in pool if (header := _header_of(path, around.files))))
    if len(headers) == 1 and not modules:
        source = next((path for path in pool if is_unit(path)), "") or pair_of(headers[0], around.files)
        return (headers[0], source) if source else (headers[0],)
    return (modules[0],) if len(modules) == 1 and not headers else ()


def _header_of(path: str, files: Sequence[str]) -> str:
    return path if is_interface(path) else pair_of(path, files) if is_unit(path) else ""
