"""Changes to fit on, made from the history of clones: small commits, their messages as requests.

    python -m benchmarks.mined --clones DIR --count 16 OWNER/NAME ... > changes.jsonl

Every second request loses what looks like code, since people who ask seldom know the names. Which commits are taken depends
on their digests alone. A message says less than a request, and some say nothing: the figures are lower than on requests.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from agent.languages import language_of, parse_file, parser_for
from agent.workspace.protected import is_test_file
from benchmarks.commits import Commit, clone_of

RECENT = 2500
MOST_FILES, MOST_SYMBOLS, LEAST_WORDS, MOST_LETTERS = 5, 12, 8, 700

_ASIDE = re.compile(r"(?:docs?|examples?|tools|scripts)/")
_DULL = re.compile(
    r"\b(?:bump|release|changelog|typo|spelling|merge|revert|lint|format|pre-commit|docs?:|readme|copyright|version|cosmetic"
    r"|style|whitespace|ci:|build:|tests?:|upgrade|bot|clean ?up)\b",
    re.I,
)
_TRAILER = re.compile(
    r"\s*(?:signed-off|co-authored|reviewed|pr-url|fixes:|refs?:|closes|fixes #|reported|acked|https?:|\(cherry|cc:"
    r"|from |git-svn|--hg)",
    re.I,
)
_CODE = re.compile(r"\S*(?:[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|/\w|\w\.[ch]\b|\.py\b|\(\)|::)\S*")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+", re.M)


def changes_of(clones: Path, repo: str, count: int) -> list[Commit]:
    """At most ``count`` changes of one repository."""
    clone = clone_of(clones, repo)
    found: list[Commit] = []
    for _, sha, parent, message, paths in sorted(_small_commits(clone)):
        text = re.sub(r"\(?#\d+\)?", "", message)[:MOST_LETTERS]
        if len(found) % 2:
            text = re.sub(r"^[\w.-]+:\s", "", _CODE.sub(" ", text).strip())
        symbols = [symbol for path in paths for symbol in _touched(clone, parent, sha, path)]
        if len(text.split()) >= LEAST_WORDS and len(symbols) <= MOST_SYMBOLS:
            name = f"{repo.partition('/')[2]}-{sha[:8]}"
            found.append(Commit(name, repo, language_of(paths[0]), parent, text, tuple(paths), tuple(symbols)))
        if len(found) == count:
            break
    return found


def _small_commits(clone: Path) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """(digest to sort by, commit, parent, message, changed sources) of commits that change a few sources of one language."""
    log = _git(
        clone, "log", "--no-merges", "--no-renames", f"-n{RECENT}", "-z", "--format=%x1e%H%x1f%P%x1f%B%x1f", "--name-status"
    ).decode("utf-8", "replace")
    for record in log.split("\x1e")[1:]:
        sha, parent, message, rest = record.split("\x1f", 3)
        names = [name.strip("\n") for name in rest.split("\0") if name.strip("\n")]
        paths = [path for status, path in zip(names[::2], names[1::2], strict=False) if status == "M" and _is_source(path)]
        body = "\n".join(line for line in message.splitlines() if not _TRAILER.match(line)).strip()
        telling = body and not _DULL.search(body.splitlines()[0])
        small = 1 <= len(paths) <= MOST_FILES and len(names) <= 28 and len({language_of(path) for path in paths}) == 1
        if telling and small and parent and " " not in parent:
            yield hashlib.sha1(sha.encode()).hexdigest(), sha, parent, body, paths


def _is_source(path: str) -> bool:
    return parser_for(language_of(path)) is not None and not is_test_file(path) and not _ASIDE.match(path)


def _touched(clone: Path, parent: str, sha: str, path: str) -> list[str]:
    """The innermost symbols of the old file that a commit changes lines of."""
    symbols = [
        symbol
        for symbol in parse_file(path, _git(clone, "show", f"{parent}:{path}")).symbols
        if symbol.kind not in ("prototype", "enumerator")
    ]
    found: dict[str, None] = {}
    for match in _HUNK.finditer(_git(clone, "diff", "-U0", parent, sha, "--", path).decode("utf-8", "replace")):
        first, lines = int(match[1]), int(match[2] or 1)
        last = first + max(lines, 1) - (1 if lines else 0)
        over = [symbol for symbol in symbols if symbol.line <= last and symbol.end_line >= first]
        code = [symbol for symbol in over if symbol.body_start >= 0 and symbol.kind != "class"]
        for symbol in over:
            inside = any(one is not symbol and symbol.start <= one.start and one.end <= symbol.end for one in code)
            if not inside:
                found.setdefault(f"{path}:{symbol.qualified}")
    return list(found)


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=True).stdout


def main() -> None:
    """Print the changes, one a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", metavar="OWNER/NAME")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--count", type=int, default=16, help="changes a repository")
    options = parser.parse_args()
    for repo in options.repositories:
        for change in changes_of(options.clones, repo, options.count):
            sys.stdout.buffer.write(msgspec.json.encode(change) + b"\n")


if __name__ == "__main__":
    main()
