"""Where an undeclared name could come from: a header of the project or the system, a later line, a misspelling."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent.compiling.build_facts import BuildFacts
from agent.compiling.ctext import FEATURE_MACROS
from agent.compiling.declarations import KEYWORDS
from agent.compiling.findings import Finding, SystemNames
from agent.compiling.headers import HeaderTable, Home, header_table
from agent.compiling.project import ProjectFiles
from agent.compiling.scope import close_name, close_tag, tag_behind
from agent.compiling.symptoms import Symptom

_EXTENSIONS = frozenset({"asm", "typeof", "inline"})
_MACRO_LIKE = re.compile(
    r"[A-Z_]{3}|_t$|^(?:bool|true|false|noreturn|static_assert|thread_local|alignas|alignof|complex|offsetof|va_\w+|assert)$"
)


class NameFinder:
    """Answers for one failed compile. ``target`` is the file that was compiled."""

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
        self.project, self.target, self.facts = project, target, facts
        self.table = table or header_table()
        self.system = system
        self.disproven = frozenset(disproven)

    def find(self, symptom: Symptom) -> Finding:
        """The best explanation of a symptom: the first of its names that has one; ``unknown`` when none has."""
        last: Finding | None = None
        for name in symptom.names[:24] if symptom.kind == "syntax" else symptom.names[:4]:
            found = self._name(symptom, name)
            if found.outcome not in ("unknown", "undefined") and not (
                symptom.kind == "syntax" and found.outcome != "include"
            ):
                return found
            if symptom.kind != "syntax":
                last = last or found
        return last or Finding("unknown", symptom.names[0] if symptom.names else "", symptom)

    def _name(self, symptom: Symptom, name: str) -> Finding:
        file, line = self.place(symptom)
        plain = name.removeprefix("struct ")
        if symptom.kind == "syntax" and not self._may_be_missing(symptom, plain, file, line):
            return Finding("unknown", name, symptom, file, line)
        if symptom.kind in ("incomplete", "in_parameters") and not name.startswith("struct "):
            name = tag_behind(self.project, plain) or name
        if plain in _EXTENSIONS and symptom.kind in ("implicit", "undeclared"):
            detail = f"`{plain}` is an extension that a strict -std hides: use -std=gnu17, or write `__{plain}__`."
            return Finding("hidden", name, symptom, file, line, flag="-std=gnu17", detail=detail)
        return (
            self._in_own_file(symptom, name, file, line)
            or self._in_project_headers(symptom, name, file, line)
            or self._in_system(symptom, name, file, line)
            or self._elsewhere(symptom, name, file, line)
        )

    def place(self, symptom: Symptom) -> tuple[str, int]:
        """The project file and line at which an include would help: the diagnostic's own, or where a system header that
        complains is included."""
        d = symptom.diagnostic
        file = self.project.resolve(d.file)
        if file is not None:
            return file, d.line or self.project.shape(file).line_count + 1
        if d.file.startswith("<") or not d.file:
            return self.target, self.project.shape(self.target).line_count + 1
        for include in self.project.shape(self.target).includes:
            if include.live and (d.file.endswith("/" + include.name) or d.file == include.name):
                return self.target, include.line
        includes = [i.line for i in self.project.shape(self.target).includes if i.live]
        return self.target, max(includes) if includes else 1

    def _in_own_file(self, symptom: Symptom, name: str, file: str, line: int) -> Finding | None:
        plain = name.removeprefix("struct ")
        if not self.project.mentions(file, plain):
            return None
        own = self.project.declared(file)
        if name.startswith("struct "):
            if plain in own.tags:
                return Finding("order", name, symptom, file, line, detail=f"`{name}` is defined in {file}, below its use.")
            return None
        if plain in own.names() and symptom.kind != "syntax":
            return Finding(
                "order", name, symptom, file, line,
                detail=f"`{plain}` is declared in {file} itself, below its first use (or in a part that is not compiled); "
                "declare it above.",
            )  # fmt: skip
        if symptom.kind == "unknown_type" and plain in own.tags | own.declared_tags and not self.table.known(plain):
            return Finding("tag_missing", name, symptom, file, line, detail=f"`{plain}` is a tag: write `struct {plain}`.")
        return None

    def _in_project_headers(self, symptom: Symptom, name: str, file: str, line: int) -> Finding | None:
        plain = name.removeprefix("struct ")
        tag = name.startswith("struct ")
        homes, tag_homes = [], []
        for header in self.project.headers():
            if header == file or not self.project.mentions(header, plain):
                continue
            declared = self.project.declared(header)
            if plain in (declared.tags if tag else declared.names()):
                homes.append(header)
            elif not tag and symptom.kind == "unknown_type" and plain in declared.tags:
                tag_homes.append(header)
        if not homes:
            if tag_homes and not self.table.known(plain):
                return Finding(
                    "tag_missing",
                    name,
                    symptom,
                    file,
                    line,
                    detail=f"`{plain}` is a tag ({tag_homes[0]}): write `struct {plain}`.",
                )
            return None
        active = self.project.active_headers(file, line)
        if live := [h for h in homes if h in active]:
            return Finding(
                "active", name, symptom, file, line, (live[0],), False,
                detail=f"{live[0]} is included already and mentions `{plain}`: it stays hidden by a condition, by a guard "
                "that clashes with another header's, or by headers that include each other.",
            )  # fmt: skip
        usable = [h for h in homes if h not in self.disproven and file not in self.project.active_headers(h)] or homes
        if symptom.kind == "syntax" and not any(
            plain in self.project.declared(h).macros | self.project.declared(h).types for h in usable
        ):
            return None
        folder = file.rsplit("/", 1)[0] if "/" in file else ""
        usable.sort(
            key=lambda h: (
                not h.endswith((".h", ".hh")),
                (h.rsplit("/", 1)[0] if "/" in h else "") != folder,
                h.count("/"),
                len(h),
            )
        )
        return Finding("include", name, symptom, file, line, tuple(usable), False)

    def _in_system(self, symptom: Symptom, name: str, file: str, line: int) -> Finding | None:
        homes = self._homes(symptom, name)
        if not homes:
            return None
        plain = name.removeprefix("struct ")
        hinted = any(h.header in symptom.diagnostic.includes for h in homes)
        if finding := self._wrong_use(symptom, name, homes, file, line, hinted):
            return finding
        active = self.project.active_headers(file, line)
        defined = self._feature_macros(file)
        primary = homes[0]
        if primary.header in active and not self._shadowed(primary.header, file):
            if symptom.kind == "syntax":
                return None
            if primary.hidden(strict=self.facts.strict, defined=defined) or primary.level:
                return self._hidden(primary, name, symptom, file, line, included=True)
            return Finding(
                "active", name, symptom, file, line, (primary.header,),
                detail=f"<{primary.header}> is included already and still `{plain}` is not declared: this platform's header "
                "lacks it or another file of that name is found first.",
            )  # fmt: skip
        if self._shadowed(primary.header, file) and primary.header in active:
            return Finding(
                "active", name, symptom, file, line, (primary.header,),
                detail=f"A project file named {primary.header} is found instead of the system's <{primary.header}>.",
            )  # fmt: skip
        if primary.hidden(strict=self.facts.strict, defined=defined):
            return self._hidden(primary, name, symptom, file, line, included=False)
        headers = tuple(h.header for h in homes if h.header not in self.disproven)
        if not headers:
            return None
        return Finding("include", name, symptom, file, line, headers, True, hinted=hinted)

    def _homes(self, symptom: Symptom, name: str) -> list[Home]:
        homes = list(self.table.homes(name))
        system = None if self.facts.windows else self.system
        if not homes and system is not None and _worth_asking(symptom, name):
            homes = [h for h in system.homes(name) if not self.table.never(h.header)]
        for hint in symptom.diagnostic.includes:
            proper = self.table.proper(hint)
            if not any(h.header == proper for h in homes) and not self.table.never(proper) and _about(symptom, name):
                homes.append(Home(proper, "function", "", self.table.headers.get(proper, "gnu"), len(homes)))
        if not self.facts.windows:
            homes = [h for h in homes if h.group != "windows"]
        if system is not None:
            homes = [h for h in homes if system.exists(h.header)]
        return homes

    def _wrong_use(
        self, symptom: Symptom, name: str, homes: list[Home], file: str, line: int, hinted: bool
    ) -> Finding | None:
        """A name that a header declares, used as what it is not: a forgotten local called ``time``, say."""
        kinds = {h.kind for h in homes}
        plain = name.removeprefix("struct ")
        if symptom.kind == "unknown_type" and not name.startswith("struct ") and kinds <= {"function", "variable"}:
            return Finding(
                "value",
                name,
                symptom,
                file,
                line,
                detail=f"`{plain}` is used as a type, but headers declare a function of that name.",
            )
        if symptom.kind == "implicit" and kinds <= {"type", "variable"} and not hinted:
            return Finding(
                "value",
                name,
                symptom,
                file,
                line,
                detail=f"`{plain}` is called, but headers declare no function of that name.",
            )
        called = symptom.kind == "implicit" and re.search(
            rf"\b{re.escape(plain)}\s*\(", symptom.diagnostic.source_line or f"{plain}("
        )
        if (
            symptom.kind in ("undeclared", "implicit")
            and not called
            and kinds <= {"function"}
            and self._used_as_value(symptom, plain, file)
        ):
            return Finding(
                "value", name, symptom, file, line,
                detail=f"`{plain}` is used like a variable, but headers declare a function of that name: a local was meant.",
            )  # fmt: skip
        return None

    def _used_as_value(self, symptom: Symptom, name: str, file: str) -> bool:
        """Whether the name stands in arithmetic, an assignment or a subscript rather than as a function or a callback."""
        text = symptom.diagnostic.source_line or self.project.shape(file).line_text(symptom.diagnostic.line)
        match = re.search(rf"(?<![\w.>]){re.escape(name)}\b", text)
        if not match:
            return False
        before, after = text[: match.start()].rstrip(), text[match.end() :].lstrip()
        if after.startswith("("):
            return False
        if re.search(r"\w*(?:printf|scanf)\s*\([^()]*$", before):
            return True
        callback = before.endswith(("(", ",", "=", "&")) and not before.endswith("==") and after[:1] in (",", ")", ";")
        number = before.endswith("=") and bool(re.search(r"\b(?:int|long|short|double|float|char|size_t)\b", before))
        return not callback or number

    def _feature_macros(self, file: str) -> set[str]:
        """Feature-test macros in force for ``file``: by -D, or defined above the first include of it or of the target."""
        found = set(self.facts.defined & FEATURE_MACROS)
        for path in {file, self.target}:
            shape = self.project.shape(path)
            first = min((i.line for i in shape.includes if i.live), default=shape.line_count + 1)
            found |= {m for m, at in shape.defined.items() if m in FEATURE_MACROS and at < first}
        return found

    def _shadowed(self, header: str, file: str) -> bool:
        found = self.project.included_file(file, header)
        return found is not None and any(i.name == header for i in self.project.shape(file).includes)

    def _hidden(self, home: Home, name: str, symptom: Symptom, file: str, line: int, *, included: bool) -> Finding:
        plain = name.removeprefix("struct ")
        macro = home.feature_macro
        have = f"<{home.header}> is included already, but" if included else f"`{plain}` comes from <{home.header}>, which"
        hides = "the strict -std hides it" if self.facts.strict else "it is hidden by default"
        detail = f"{have} declares `{plain}` only with a feature-test macro: {hides}. "
        detail += f"Compile with -D{macro} (or define it above the first include)"
        if self.facts.strict and home.level not in ("gnu", "xopen"):
            detail += ", or use -std=gnu17 instead of the strict standard"
        if not included:
            detail += f"; {home.header} must be included too"
        return Finding("hidden", name, symptom, file, line, (home.header,), flag=f"-D{macro}", detail=detail + ".")

    def _elsewhere(self, symptom: Symptom, name: str, file: str, line: int) -> Finding:
        plain = name.removeprefix("struct ")
        if name.startswith("struct "):
            return self._tag_elsewhere(symptom, name, plain, file, line)
        if symptom.kind == "unknown_type" and self.table.known(f"struct {plain}"):
            return Finding("tag_missing", name, symptom, file, line, detail=f"`{plain}` is a tag: write `struct {plain}`.")
        if symptom.kind != "syntax":
            for path in self.project.paths():
                if path != file and not path.endswith(".h") and self.project.mentions(path, plain):
                    declared = self.project.declared(path)
                    if declared.defines(plain) or plain in declared.types | declared.macros:
                        return Finding(
                            "source_only", name, symptom, file, line,
                            detail=f"`{plain}` is defined in {path}, but no header declares it: add a declaration to one.",
                        )  # fmt: skip
            close = close_name(
                self.project, self.table, file, plain, symptom.diagnostic.message, function=symptom.kind == "implicit"
            )
            if close:
                return Finding(
                    "misspelt",
                    name,
                    symptom,
                    file,
                    line,
                    detail=f"No header declares `{plain}`; `{close}` is in scope and close: a misspelling.",
                )
        return Finding("unknown", name, symptom, file, line)

    def _tag_elsewhere(self, symptom: Symptom, name: str, plain: str, file: str, line: int) -> Finding:
        for path in self.project.paths():
            if path != file and self.project.mentions(path, plain) and plain in self.project.declared(path).tags:
                return Finding(
                    "opaque",
                    name,
                    symptom,
                    file,
                    line,
                    detail=f"`{name}` is defined only inside {path}: its members are private there.",
                )
        if close := close_tag(self.project, file, plain):
            detail = f"`{name}` is defined nowhere; `struct {close}` is close: a misspelling."
            return Finding("misspelt", name, symptom, file, line, detail=detail)
        return Finding(
            "undefined", name, symptom, file, line, detail=f"`{name}` is declared but defined nowhere in the project."
        )

    def _may_be_missing(self, symptom: Symptom, name: str, file: str, line: int) -> bool:
        """Whether a word near a syntax error can be a macro or type whose header is missing."""
        if name in KEYWORDS or len(name) < 2:
            return False
        hinted = bool(symptom.diagnostic.includes) and _about(symptom, name)
        kinds = {h.kind for h in self.table.homes(name)}
        if not hinted and kinds and not kinds & {"macro", "type"}:
            return False
        if self.facts.c23 and name in ("bool", "true", "false", "static_assert", "thread_local", "alignas", "alignof"):
            return False
        text = symptom.diagnostic.source_line or self.project.shape(file).line_text(line)
        if re.search(rf"(?:\.|->)\s*{re.escape(name)}\b", text):
            return False
        if hinted or name in symptom.names[:2] or "type" in kinds or self._project_type(name):
            return True
        return bool(_MACRO_LIKE.search(name))

    def _project_type(self, name: str) -> bool:
        """Whether a header of the project declares ``name`` as a type."""
        return any(self.project.mentions(h, name) and name in self.project.declared(h).types for h in self.project.headers())


def _worth_asking(symptom: Symptom, name: str) -> bool:
    """Whether all installed headers are to be searched for a name: not for what is most likely a forgotten variable."""
    return symptom.kind in ("implicit", "unknown_type") or name.startswith("struct ") or bool(re.search(r"[A-Z]|_t$", name))


def _about(symptom: Symptom, name: str) -> bool:
    """Whether the compiler's include hint speaks of ``name``."""
    plain = name.removeprefix("struct ")
    return any(re.search(rf"\b{re.escape(plain)}\b", note) for note in symptom.diagnostic.notes) or (
        bool(symptom.names) and symptom.names[0] == name
    )
