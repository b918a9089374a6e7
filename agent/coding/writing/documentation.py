"""Comments for public symbols that a run changed and that have none. Only comments may change, and that is proven."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import msgspec

from agent.coding.files import Files
from agent.coding.replies.search_replace import EditResult
from agent.context import RunContext
from agent.events import EditApplied, EditRejected
from agent.language.base import Uncommented
from agent.language.code_blocks import code_blocks
from agent.languages import is_code, is_interface, is_unit, language_of, named, reader_of
from agent.prompts import documentation as words

_REPLY_TOKENS = 160


class Undocumented(msgspec.Struct, frozen=True):
    """A public symbol without a comment, and the file it is in."""

    path: str
    symbol: Uncommented

    @property
    def name(self) -> str:
        """The symbol's name, qualified for a method."""
        return self.symbol.name


def undocumented(path: str, before: bytes | None, after: bytes) -> list[Undocumented]:
    """Public symbols of ``after`` that are new or changed against ``before`` and have no comment."""
    language = reader_of(path)
    if language is None:
        return []
    same = {(one.name, one.source) for one in language.uncommented(before or b"")}
    found = [one for one in language.uncommented(after) if (one.name, one.source) not in same]
    return [Undocumented(path, one) for one in found]


def comment_text(reply: str) -> str:
    """A reply as the plain text of a comment: markers, fences and code around it taken off; "" when none is left."""
    text = reply.strip()
    fenced = re.search(r"```", text)
    if fenced:
        code = code_blocks(text)[0].text if code_blocks(text) else ""
        doc = re.search(r"/\*+(.*?)\*/|\"\"\"(.*?)\"\"\"|'''(.*?)'''", code, re.S)
        text = next((part for part in doc.groups() if part), "") if doc else text[: fenced.start()] or code
    lines = []
    for line in text.split("\n"):
        clean = re.sub(r"^\s*(?:/\*+|\*+/?|//+|#+|\"\"\"|''')\s?|\s*(?:\*/|\"\"\"|''')\s*$", "", line).rstrip()
        lines.append(clean.strip())
    text = "\n".join(lines).strip().strip('"').replace("*/", "* /").replace('"""', "'''")
    paragraph = text.split("\n\n")[0]
    return "" if re.search(r"[;{]\s*$", paragraph, re.M) else paragraph.replace("\\", "\\\\")


def add_comment(source: bytes, wanted: Undocumented, text: str) -> EditResult:
    """``source`` with ``text`` as the comment of ``wanted``; refused unless all else is the same by parsing."""
    if not text:
        return EditResult(False, wanted.path, source, reason=f"The reply holds no comment for {wanted.name}.")
    language = named(language_of(wanted.path))
    data = language.with_comment(source, wanted.symbol, text)
    if data == source or not language.same_code(source, data):
        reason = f"The comment of {wanted.name} would change code, so it was left."
        return EditResult(False, wanted.path, source, reason=reason)
    return EditResult(True, wanted.path, data, how="comment", added=data.count(b"\n") - source.count(b"\n"))


async def document(
    ctx: RunContext,
    changed: Mapping[str, bytes | None],
    *,
    files: Files,
    task: str = "",
    protected: Callable[[str], bool] = lambda path: False,
) -> list[EditResult]:
    """Comment what a run changed. ``changed`` maps each changed path to its content before the run (None for a new file).

    One call a symbol; a reply that is not a comment is left out, never a failure of the run.

    Raises:
        ModelError: if the model cannot answer.
    """
    results: list[EditResult] = []
    for path, before in changed.items():
        if protected(path) or not files.exists(path) or not is_code(path):
            continue
        for wanted in undocumented(path, before, files.read_bytes(path)):
            if is_unit(path) and _documented_elsewhere(wanted.name, files):
                continue
            results.append(await _one(ctx, wanted, files, task))
    return results


def _documented_elsewhere(name: str, files: Files) -> bool:
    """Whether an interface declares the symbol: that is where users look for its comment."""
    interfaces = [(path, named(language_of(path))) for path in files.list() if is_interface(path)]
    return any(name in language.public_names(files.read_bytes(path)) for path, language in interfaces)


async def _one(ctx: RunContext, wanted: Undocumented, files: Files, task: str) -> EditResult:
    llm = ctx.llm("documentation")
    asked = await llm.generate(
        system=words.SYSTEM,
        task_context=words.task_context(task),
        prompt=words.question(wanted.name, wanted.path, wanted.symbol.source, language_of(wanted.path)),
        item=f"{wanted.path} {wanted.name}",
        max_tokens=min(_REPLY_TOKENS, llm.target.max_tokens),
    )
    source = files.read_bytes(wanted.path)
    current = next((one for one in undocumented(wanted.path, None, source) if one.name == wanted.name), None)
    text = comment_text(asked.text) if asked.finish == "stop" else ""
    if current is None:
        return EditResult(False, wanted.path, source, reason=f"{wanted.name} is gone.")
    result = add_comment(source, current, text)
    if result.ok:
        files.write_bytes(wanted.path, result.data)
        ctx.emit(EditApplied(wanted.path, "comment", wanted.name, result.added, 0))
    else:
        ctx.emit(EditRejected(wanted.path, result.reason))
    return result
