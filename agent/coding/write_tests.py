"""A new test file for an interface, in a step of its own. It never touches a test that was there before."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from agent.coding.attempts import Compile, compile_trouble, headline, room_for, temperature_for
from agent.coding.csyntax import definitions
from agent.coding.files import Files
from agent.coding.pyreplace import syntax_problem
from agent.coding.reply import code_blocks
from agent.coding.steps import StepOutcome, language_of
from agent.context import RunContext
from agent.events import EditApplied, EditRejected
from agent.prompts import test_implement as words
from agent.values import PlanStep


async def implement_tests(
    ctx: RunContext,
    step: PlanStep,
    *,
    files: Files,
    compile: Compile,
    interface: Sequence[str],
    task: str = "",
    max_attempts: int | None = None,
) -> StepOutcome:
    """Write the step's first target file, a test of what ``interface`` (paths of headers or modules) promises.

    The file must be new: an existing test is refused, since whoever is measured does not change the measure. It counts when
    it parses (Python) or compiles (C) and holds at least one test with an assertion.

    Raises:
        ModelError: if the model cannot answer.
    """
    path = next(iter(step.target_files), "")
    if not path or files.exists(path):
        reason = (
            f"{path} exists already: tests are only added, in files of their own." if path else "The step names no file."
        )
        ctx.emit(EditRejected(path, reason))
        return StepOutcome(False, step.id, reason=reason)
    attempts = ctx.config.coding.max_attempts if max_attempts is None else max_attempts
    language, llm = language_of(path), ctx.llm("test_implement")
    state = words.state(task, _interface(files, interface, room_for(llm.target, llm.target.max_tokens) - len(task)))
    trouble, calls = "", []
    for attempt in range(1, attempts + 1):
        asked = await llm.generate(
            system=words.system(language),
            state=state,
            prompt=words.question(step.description, path, trouble=trouble),
            item=path,
            attempt=attempt,
            temperature=temperature_for(attempt, llm.target.temperature),
            stop=("\n```\n",) if attempt == 1 else (),
        )
        calls.append(asked.call_id)
        text = max((block.text for block in code_blocks(asked.text)), key=len, default="").strip("\n") + "\n"
        trouble = "The reply was cut off. Write fewer tests." if asked.finish != "stop" else problem_with(text, language)
        if not trouble:
            files.write_bytes(path, text.encode())
            compiled = await compile(path, "") if language == "c" else None
            if compiled is None or compiled.ok:
                ctx.emit(EditApplied(path, "new", added=text.count("\n")))
                return StepOutcome(True, step.id, (path,), attempt, "", tuple(calls))
            trouble = compile_trouble(compiled, path, files.read_bytes(path))
            files.remove(path)
        ctx.emit(EditRejected(path, trouble))
    reason = f"{path} could not be written in {attempts} tries: {headline(trouble)}"
    return StepOutcome(False, step.id, (), attempts, reason, tuple(calls))


def problem_with(text: str, language: str) -> str:
    """Why ``text`` is no test file, "" when it is one: it must parse, and assert something that is no constant."""
    if language == "python":
        problem = syntax_problem(text.encode())
        if problem:
            return f"It is no valid Python: {problem}"
        tests = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test")
        ]
        if not tests:
            return "It has no function called test_..."
        weak = [node.name for node in tests if not any(_asserts(child) for child in ast.walk(node))]
        return f"{weak[0]} asserts nothing." if weak else ""
    if not any(one.name == "main" for one in definitions(text.encode())):
        return "It has no main that calls the tests."
    if not re.search(r"\bassert\s*\(\s*(?![01]\s*\)|true\s*\))", text):
        return "It checks nothing: use assert()."
    return ""


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    return isinstance(node, ast.Call) and re.search(r"\b(?:raises|assert\w*)\b", ast.unparse(node.func)) is not None


def _interface(files: Files, paths: Sequence[str], room: int) -> str:
    parts: list[str] = []
    for path in paths:
        text = files.read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
        part = f"File {path}:\n```{language_of(path)}\n{text.strip()}\n```"
        if len(part) > room and parts:
            break
        parts.append(part[: max(room, 1000)])
        room -= len(part)
    return "\n\n".join(parts)
