"""Source text with its syntax in colours: the language by the file's name, by a fence, or by how it looks.

The colours are those of the theme. The text itself is taken literally, as everywhere: highlighting only adds styles.
"""

from __future__ import annotations

import re

from textual.content import Content
from textual.highlight import highlight

from screens.text import clean

_LONGEST = 40_000
"""Characters that are highlighted; longer texts are shown plainly, for the sake of speed."""
_SUFFIXES = {
    "c": "c", "h": "c", "py": "python", "toml": "toml", "json": "json", "md": "markdown", "sh": "bash", "mk": "make",
    "yml": "yaml", "yaml": "yaml", "rs": "rust",
}  # fmt: skip
_C = re.compile(
    r"^\s*(#\s*include\b|(static|unsigned|const|struct|void|int|size_t|bool|char) |[\w*]+ \*?\w+\([^)]*\)\s*\{)", re.M
)
_PYTHON = re.compile(r"^\s*(def |class |from \w[\w.]* import |import \w+$|@\w+)", re.M)
_FENCE = re.compile(r"^```\w*\s*$", re.M)


def language_of(path: str, text: str = "") -> str:
    """The language of a file or of a text, "" where neither says it."""
    known = _SUFFIXES.get(path.rpartition(".")[2].lower(), "") if "." in path else ""
    if known or not text:
        return known
    if text.lstrip()[:1] in "{[" and text.rstrip()[-1:] in "}]":
        return "json"
    return "c" if _C.search(text) else "python" if _PYTHON.search(text) else ""


def code_lines(text: str, path: str = "", indent: int = 0) -> list[Content]:
    """The lines of a text with its syntax in colours; plain where no language is known."""
    text = clean(text)
    language = language_of(path, _FENCE.sub("", text))
    pad = " " * indent
    if not language or len(text) > _LONGEST:
        return [Content(pad + row) for row in text.split("\n")]
    plain = text.split("\n")
    code = "\n".join("" if _FENCE.match(row) else row for row in plain)  # a fence is not code
    rows = highlight(code, language=language).split("\n", allow_blank=True)
    if len(rows) != len(plain):  # the highlighter has dropped what it takes for unimportant
        return [Content(pad + row) for row in plain]
    pairs = zip(plain, rows, strict=True)
    return [Content(pad) + row if row.plain == said else Content(pad + said) for said, row in pairs]
