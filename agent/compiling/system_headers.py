"""What the installed headers really declare: the compiler is asked once, the answer is kept per compiler and version."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import platformdirs

from agent.c.declarations.scan import Declared, scan
from agent.c.headers import HeaderTable, Home, header_table
from agent.c.preprocessor.includes import write_atomically
from agent.compiling.child import child_environment
from agent.compiling.compiler import Compiler

_MARKER = re.compile(r'^# \d+ "([^"]*)"([ \d]*)$', re.MULTILINE)
_SEARCH_BEGIN = "#include <...> search starts here:"
_SEARCH_END = "End of search list."
_FORMAT = 3
_MAX_HEADER = 1_000_000
_MAX_ASKED = 8
"""Third-party headers that mention a name and are preprocessed to see whether they declare it."""


class _Index(msgspec.Struct):
    """The cache file: kinds of names by header, each kind's names joined by blanks."""

    format: int
    search_dirs: list[str]
    macros: dict[str, str]
    headers: dict[str, dict[str, str]] = {}


def cache_dir() -> Path:
    """Where header indexes are kept: ``CRA_CACHE_DIR``, else the user's cache directory."""
    return Path(os.environ.get("CRA_CACHE_DIR") or platformdirs.user_cache_dir("cra"))


class SystemHeaders:
    """The header knowledge of one compiler. Its search path is asked at once (cached); the index of names only when a name
    is asked for that the table does not know, which takes about a second the first time and milliseconds after."""

    def __init__(self, compiler: Compiler, table: HeaderTable | None = None, cache_path: Path | None = None) -> None:
        self.compiler = compiler
        self.table = table or header_table()
        self._path = cache_path or cache_dir() / "headers" / f"{compiler.key}.json"
        self._index = _load(self._path)
        if self._index is None:
            self._index = _Index(_FORMAT, _search_dirs(compiler), _predefined(compiler))
            _store(self._path, self._index)
        self._exists: dict[str, bool] = {}
        self._homes: dict[str, list[Home]] | None = None
        self._others: dict[str, tuple[Home, ...]] = {}

    @property
    def macros(self) -> dict[str, str]:
        """The compiler's predefined macros, name to body."""
        return self._index.macros if self._index else {}

    @property
    def search_dirs(self) -> list[str]:
        """The directories of ``#include <...>``, in order."""
        return self._index.search_dirs if self._index else []

    def exists(self, header: str) -> bool:
        """Whether ``#include <header>`` finds a file. True for all when the search path could not be learnt."""
        if header not in self._exists:
            dirs = self.search_dirs
            self._exists[header] = not dirs or any(os.path.isfile(os.path.join(d, header)) for d in dirs)
        return self._exists[header]

    def homes(self, name: str) -> tuple[Home, ...]:
        """Headers found to declare ``name`` (tags as ``struct x``): canonical ones of the index, else third-party ones that
        mention it at the top of the search path."""
        if self._homes is None:
            self._homes = self._build()
        found = tuple(self._homes.get(name, ()))
        return found or self._third_party(name)

    def _build(self) -> dict[str, list[Home]]:
        index = self._index
        assert index is not None
        if not index.headers:
            index.headers = self._ask([h for h in self.table.headers if self.exists(h)])
            _store(self._path, index)
        homes: dict[str, list[Home]] = {}
        for header, kinds in index.headers.items():
            for kind, words in kinds.items():
                for word in words.split():
                    name = f"struct {word}" if kind == "tag" else word
                    entry = homes.setdefault(name, [])
                    entry.append(Home(header, kind, "", self.table.headers.get(header, "gnu"), len(entry)))
        return homes

    def _ask(self, headers: list[str]) -> dict[str, dict[str, str]]:
        """The names that belong to each header: declared in it, or in files below it that are not canonical headers. All are
        preprocessed in one go; what several bring belongs to the first, and the table lists the best homes first."""
        source = "".join(f"#include <{h}>\n" for h in headers)
        text = _preprocess(self.compiler, source, ("-dD", "-D_GNU_SOURCE"))
        return {path: _words(scan(piece)) for path, piece in _pieces(text, self._canonical) if path}

    @cache  # noqa: B019  (one instance a compiler, kept for the process's life)
    def _canonical(self, path: str) -> str | None:
        for directory in self.search_dirs:
            if path.startswith(directory + "/"):
                name = path[len(directory) + 1 :]
                if name in self.table.headers:
                    return name
                return "" if self.table.obsolete(name) else None
        return None

    def _third_party(self, name: str) -> tuple[Home, ...]:
        """Headers of other packages, directly in a search directory, that declare ``name``."""
        if name not in self._others:
            plain = name.removeprefix("struct ").encode()
            word = re.compile(rb"\b" + plain + rb"\b")
            mention = [h for h, data in self._contents() if plain in data and word.search(data)] if len(plain) > 3 else []
            kinds = [(h, _kind_in(self._declared_by(h), name)) for h in mention[:_MAX_ASKED]]
            found = sorted(((h, k) for h, k in kinds if k), key=lambda pair: pair[1] == "macro")
            self._others[name] = tuple(Home(h, k, "", "other", i) for i, (h, k) in enumerate(found))
        return self._others[name]

    @cache  # noqa: B019
    def _contents(self) -> list[tuple[str, bytes]]:
        """The texts of the third-party headers, some megabytes."""
        out = []
        for path, header in self._other_headers():
            with contextlib.suppress(OSError):
                out.append((header, path.read_bytes()[:_MAX_HEADER]))
        return out

    @cache  # noqa: B019
    def _declared_by(self, header: str) -> Declared:
        """What a third-party header itself declares, macros expanded."""
        text = _preprocess(self.compiler, f"#include <{header}>\n", ("-dD", "-D_GNU_SOURCE"))
        ends = "/" + header
        own = Declared()
        for path, piece in _pieces(text, lambda p: header if p.endswith(ends) else self._canonical(p)):
            if path == header:
                own.update(scan(piece))
        return own

    @cache  # noqa: B019
    def _other_headers(self) -> list[tuple[Path, str]]:
        out: list[tuple[Path, str]] = []
        for directory in self.search_dirs:
            if "/gcc/" in directory or "/clang/" in directory:
                continue
            try:
                names = sorted(os.listdir(directory))
            except OSError:
                continue
            out += [
                (Path(directory, n), n)
                for n in names
                if n.endswith(".h") and n not in self.table.headers and not self.table.never(n)
            ]
        return out[:2000]


def _words(own: Declared) -> dict[str, str]:
    kinds = {
        "function": set(own.functions), "variable": own.variables, "type": own.types, "tag": own.tags,
        "macro": own.macros | own.enumerators,
    }  # fmt: skip
    return {k: " ".join(sorted(n for n in v if not n.startswith("_"))) for k, v in kinds.items() if v}


def _kind_in(declared: Declared, name: str) -> str:
    if name.startswith("struct "):
        return "tag" if name[7:] in declared.tags else ""
    for kind, names in (
        ("function", declared.functions.keys()), ("type", declared.types), ("macro", declared.macros | declared.enumerators),
        ("variable", declared.variables),
    ):  # fmt: skip
        if name in names:
            return kind
    return ""


def _pieces(text: str, canonical: Callable[[str], str | None]) -> list[tuple[str, str]]:
    """Preprocessed text cut at line markers, each piece with the nearest canonical header that it came through ("" none)."""
    stack: list[str] = []
    pieces: dict[str, list[str]] = {}
    current, last = "", 0
    for match in _MARKER.finditer(text):
        pieces.setdefault(current, []).append(text[last : match.start()])
        last = match.end()
        path, flags = match[1], match[2].split()
        if "1" in flags:
            stack.append(path)
        elif "2" in flags and stack:
            stack.pop()
        current = next((c for p in reversed(stack) if (c := canonical(p)) is not None), "")
    pieces.setdefault(current, []).append(text[last:])
    return [(path, "".join(parts)) for path, parts in pieces.items()]


def _preprocess(compiler: Compiler, source: str, flags: tuple[str, ...] = ()) -> str:
    try:
        done = subprocess.run(
            [compiler.path, "-E", *flags, "-x", "c", "-"], input=source.encode(), capture_output=True, timeout=30,
            env=child_environment(), check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _predefined(compiler: Compiler) -> dict[str, str]:
    text = _preprocess(compiler, "", ("-dM",))
    return {m[1]: m[2].strip() for m in re.finditer(r"^#define (\w+)(?:\([^)]*\))?(.*)$", text, re.MULTILINE)}


def _search_dirs(compiler: Compiler) -> list[str]:
    try:
        done = subprocess.run(
            [compiler.path, "-E", "-v", "-x", "c", "-"],
            input=b"",
            capture_output=True,
            timeout=20,
            env=child_environment(),
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    lines = done.stderr.decode("utf-8", "replace").split("\n")
    if _SEARCH_BEGIN not in lines or _SEARCH_END not in lines:
        return []
    dirs = lines[lines.index(_SEARCH_BEGIN) + 1 : lines.index(_SEARCH_END)]
    return [os.path.normpath(d.split(" (")[0].strip()) for d in dirs]


def _load(path: Path) -> _Index | None:
    try:
        index = msgspec.json.decode(path.read_bytes(), type=_Index)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return index if index.format == _FORMAT else None


def _store(path: Path, index: _Index) -> None:
    """Keep the index; a cache that cannot be written is done without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch()
        write_atomically(path, msgspec.json.encode(index))
    except OSError:
        return


@cache
def system_headers(compiler: Compiler) -> SystemHeaders:
    """The header knowledge of a compiler, one object a process."""
    return SystemHeaders(compiler)
