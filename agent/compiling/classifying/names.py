"""Where an undeclared name could come from: a header of the project or the system, a later line, a misspelling."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.c.declarations.declarators import KEYWORDS
from agent.c.headers import HeaderTable, header_table
from agent.c.project import ProjectFiles
from agent.c.words import is_member
from agent.compiling.build_facts import BuildFacts
from agent.compiling.classifying.findings import FailedCompile, NameFinding, Sought, SystemNames
from agent.compiling.classifying.library_names import hinted_at, in_library
from agent.compiling.classifying.project_names import elsewhere, in_own_file, in_project_headers
from agent.compiling.classifying.scope import tag_behind
from agent.compiling.reading.symptoms import Symptom

_EXTENSIONS = frozenset({"asm", "typeof", "inline"})
_C23_WORDS = frozenset({"bool", "true", "false", "static_assert", "thread_local", "alignas", "alignof"})
_MACRO_LIKE = re.compile(
    r"[A-Z_]{3}|_t$|^(?:bool|true|false|noreturn|static_assert|thread_local|alignas|alignof|complex|offsetof|va_\w+|assert"
    r"|and|and_eq|bitand|bitor|compl|not|not_eq|or|or_eq|xor|xor_eq)$"
)


class NameFinder(FailedCompile):
    """Answers for one failed compile. ``target`` is the file that was compiled."""

    __slots__ = ()

    def __init__(
        self,
        project: ProjectFiles,
        target: str,
        facts: BuildFacts,
        *,
        table: HeaderTable | None = None,
        system: SystemNames | None = None,
        disproven: Iterable[str] = (),
    ) -> None:
        super().__init__(project, target, facts, table or header_table(), system, frozenset(disproven))

    def find(self, symptom: Symptom) -> NameFinding:
        """The best explanation of a symptom: the first of its names that has one; ``unknown`` when none has."""
        if symptom.kind == "incomplete" and not symptom.names:
            symptom = symptom._replace(names=self._type_of_the_owner(symptom))
        last: NameFinding | None = None
        for name in symptom.names[:24] if symptom.kind == "syntax" else symptom.names[:4]:
            found = self._name(symptom, name)
            if found.outcome not in ("unknown", "undefined") and not (
                symptom.kind == "syntax" and found.outcome != "include"
            ):
                return found
            if symptom.kind != "syntax":
                last = last or found
        return last or NameFinding("unknown", symptom.names[0] if symptom.names else "", symptom)

    def _name(self, symptom: Symptom, name: str) -> NameFinding:
        sought = Sought(symptom, name, *self.place(symptom))
        plain = sought.plain
        if symptom.kind == "syntax" and not self._may_be_missing(sought):
            return sought.found("unknown")
        if symptom.kind in ("incomplete", "in_parameters") and not sought.tag:
            sought = sought._replace(name=tag_behind(self.project, plain) or name)
        if plain in _EXTENSIONS and symptom.kind in ("implicit", "undeclared"):
            detail = f"`{plain}` is an extension that a strict -std hides: use -std=gnu17, or write `__{plain}__`."
            return sought.found("hidden", detail, flag="-std=gnu17")
        return (
            in_own_file(self, sought)
            or in_project_headers(self, sought)
            or in_library(self, sought)
            or elsewhere(self, sought)
        )

    def _type_of_the_owner(self, symptom: Symptom) -> tuple[str, ...]:
        """The type behind a member that is not found, where a compiler names the member only (tcc): what the file declares
        the variable before ``->`` or ``.`` as."""
        d = symptom.diagnostic
        file = self.project.resolve(d.file)
        owner = re.search(r"\b(\w+)\s*(?:\[[^\]]*\]\s*)?(?:->|\.)\s*\w", d.source_line)
        if file is None or owner is None:
            return ()
        declared = re.compile(rf"\b((?:struct|union)\s+)?([A-Za-z_]\w*)[\s*]+{owner[1]}\b")
        for found in declared.finditer(self.project.shape(file).masked):
            if found[2] not in KEYWORDS:
                return (f"struct {found[2]}" if found[1] else found[2],)
        return ()

    def place(self, symptom: Symptom) -> tuple[str, int]:
        """The project file and line at which an include would help: the diagnostic's own, or where a system header that
        complains, or a file that stands within a declaration or a function, is included."""
        d = symptom.diagnostic
        file = self.project.resolve(d.file)
        if file is not None:
            for include in self.project.shape(self.target).includes if file != self.target else ():
                if include.live and include.braces and self.project.included_file(self.target, include.name) == file:
                    return self.target, include.line
            return file, d.line or self.project.shape(file).line_count + 1
        if d.file.startswith("<") or not d.file:
            return self.target, self.project.shape(self.target).line_count + 1
        for include in self.project.shape(self.target).includes:
            if include.live and (d.file.endswith("/" + include.name) or d.file == include.name):
                return self.target, include.line
        includes = [i.line for i in self.project.shape(self.target).includes if i.live]
        return self.target, max(includes) if includes else 1

    def _may_be_missing(self, sought: Sought) -> bool:
        """Whether a word near a syntax error can be a macro or type whose header is missing."""
        symptom, name = sought.symptom, sought.plain
        if name in KEYWORDS or len(name) < 2:
            return False
        hinted = bool(symptom.diagnostic.includes) and hinted_at(symptom, name)
        kinds = {h.kind for h in self.table.homes(name)}
        if not hinted and kinds and not kinds & {"macro", "type"}:
            return False
        if self.facts.c23 and name in _C23_WORDS:
            return False
        if is_member(symptom.diagnostic.source_line or self.project.shape(sought.file).line_text(sought.line), name):
            return False
        if hinted or name in symptom.names[:2] or "type" in kinds or self._project_type(name):
            return True
        return bool(_MACRO_LIKE.search(name))

    def _project_type(self, name: str) -> bool:
        """Whether a header of the project declares ``name`` as a type."""
        return any(self.project.mentions(h, name) and name in self.project.declared(h).types for h in self.project.headers())
