"""A function that the task names and nobody has: where it goes is a fact, so a step is made for it without a model.

C: the header that declares it and the source that goes with it get a declaration and a stub, and the function is written
from those, as every other. Python: the module, or the class, that the task names gets it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from agent.planning.asked_for import FILE_NAME, REPAIR, looks_like_code
from agent.planning.paths import meant, pair_of
from agent.planning.schema import Plan, PlanStep
from agent.planning.targets import Target
from agent.workspace.protected import is_test_file

MOST = 6
"""Functions added by one task without a plan of a model; a task that names more is a library (``new_c``)."""

_NAME = r"[`'\"]?(?P<{0}>[A-Za-z_]\w*(?:\.\w+)?)[`'\"]?(?P<{0}_call>\s?\([^()]*(?:\([^()]*\)[^()]*)*\))?"
_KIND = r"(?:functions?|methods?|helpers?|routines?|procedures?|propert(?:y|ies))"
_ADD = r"\b(?:add|creat|introduc|provid|writ|implement|defin|expos|need)(?:e|es|ing|s)?\b"
_PROSE = r"(?!(?:that|which|who|to|in|into|for|of|with|from|and|or|is|on|by|as|at|it|so|when|where|returning|taking)\b)"
_FIRST = re.compile(
    rf"{_ADD}[^.;:\n]{{0,40}}?\b{_KIND}\s+(?P<called>called\s+|named\s+)?{_PROSE}{_NAME.format('a')}"
    rf"|{_ADD}\s+(?:(?:an?|the|new|another|static|public)\s+)*{_NAME.format('b')}\s+{_KIND}\b"
    rf"|{_ADD}\s+(?:(?:an?|the|new|another)\s+)*[`'\"]?(?:[\w*]+\s+\**)+(?P<d>[A-Za-z_]\w*)(?P<d_call>\s?\()"
    rf"|{_ADD}\s+(?:(?:an?|the|new|another)\s+)*{_NAME.format('c')}",
    re.I,
)
_NEXT = re.compile(rf"\s*(?:,\s*(?:and\s+)?|\s+and\s+)(?:an?\s+|the\s+)?{_NAME.format('n')}", re.I)
_OTHER_WORK = re.compile(
    r"\b(?:renam|refactor|remov|delet|migrat|deprecat|optimi[sz]|convert|replac|mov)(?:e|es|ed|ing)\b(?!\s*\()"
    r"|\b(?:option|flag|command[- ]line|subcommand|argument|class|struct|enum|macro|file|module)\s+[`'\"]?--?\w"
    r"|\bnew\s+(?:file|module|class|header|option|flag|command|struct|type)s?\b",
    re.I,
)
_ALSO = re.compile(
    r"\b(?:us|call|invok|expos|integrat|wir|hook)(?:e|es|ing|s)?\s+(?:it|them|this|that|the\s+new)\b"
    r"|\band\s+(?:use|call|make|let|have|change|update|extend|print|show|adapt|pass|return|handle)\b"
    r"|\b(?:so\s+that|which)\s+\w+\s+(?:uses|calls)\b|\bused?\s+(?:by|in)\b|\bcall(?:ed)?\s+(?:from|in)\b",
    re.I,
)


@dataclass(frozen=True)
class Surroundings:
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


def find_added(task: str, around: Surroundings) -> Added | None:
    """The functions that ``task`` wants added, with the files they go to; None when it names none, repairs or reshapes
    something, or does not say where and there is no only place."""
    if REPAIR.search(task) or _OTHER_WORK.search(task):
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
    return Added(names, files, not _ALSO.search(task)) if files else None


def added_steps(task: str, added: Added) -> tuple[PlanStep, ...]:
    """One scaffold step for C, whose functions follow from it; one step for a Python module."""
    kind = "scaffold" if added.files[0].endswith(".h") else "implement"
    return (PlanStep("s1", " ".join(task.split()), added.files, added.names, (), "", kind),)  # type: ignore[arg-type]


def with_added(plan: Plan, task: str, added: Added) -> Plan:
    """A model's plan with the new functions in a step of their own before all others, which no longer name them."""
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


def _new_names(task: str, around: Surroundings) -> tuple[str, ...]:
    """Names that must be meant as names: written as code, called with parentheses, or said to be what it is called."""
    text = FILE_NAME.sub(lambda found: " " * len(found.group()), task)
    found: dict[str, None] = {}
    for match in _FIRST.finditer(text):
        part = next(one for one in "abcd" if match[one] is not None)
        name, sure = match[part], bool(match[f"{part}_call"] or match["called"] or _quoted(text, match.start(part)))
        position = match.end()
        while name is not None:
            if not (sure or "." in name or looks_like_code(name)) or not _is_free(name, around):
                break
            found[name] = None
            more = _NEXT.match(text, position)
            name, sure, position = (
                (more["n"], bool(more["n_call"] or _quoted(text, more.start("n"))), more.end()) if more else (None, False, 0)
            )
    return tuple(found)


def _is_free(name: str, around: Surroundings) -> bool:
    return name.rpartition(".")[2] not in around.names and name not in around.classes


def _quoted(text: str, start: int) -> bool:
    return start > 0 and text[start - 1] in "`'\""


def _owner(task: str, around: Surroundings) -> str:
    """The Python class that the task names, if it is one, and only one."""
    words = set(re.findall(r"[A-Za-z_]\w*", FILE_NAME.sub(" ", task)))
    named = [name for name in around.classes if name in words and (name[:1].isupper() or f"`{name}`" in task)]
    return named[0] if len(named) == 1 else ""


def _home(task: str, around: Surroundings) -> tuple[str, ...]:
    """Header and source, or the module: of the files that the task names, else the only ones that retrieval included."""
    named = [path for written in FILE_NAME.findall(task) if (path := meant(written, around.files))]
    pool = [path for path in dict.fromkeys(named or around.included) if not is_test_file(path)]
    modules = [path for path in pool if path.endswith(".py")]
    headers = list(dict.fromkeys(header for path in pool if (header := _header_of(path, around.files))))
    if len(headers) == 1 and not modules:
        source = next((path for path in pool if path.endswith(".c")), "") or pair_of(headers[0], ".c", around.files)
        return (headers[0], source) if source else (headers[0],)
    return (modules[0],) if len(modules) == 1 and not headers else ()


def _header_of(path: str, files: Sequence[str]) -> str:
    return path if path.endswith(".h") else pair_of(path, ".h", files) if path.endswith(".c") else ""
