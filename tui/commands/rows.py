"""``cra classify`` and ``cra signals``: recorded failures in, one JSON line each out, as soon as it is known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from tui.say import say_data


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
@click.option("--no-model", is_flag=True, help="Facts only; what they leave open counts as a logic error.")
@click.option("--verify", is_flag=True, help="Recompile with the row's command where its compiler is here, else with gcc.")
@click.option("--no-facts", is_flag=True, help="Ask the model's questions whatever facts say, to measure them.")
def classify(file: Iterable[str], no_model: bool, verify: bool, no_facts: bool) -> None:
    """Classify the compiler failures of a JSONL FILE ("-" for standard input).

    Each line is an object with "stderr", what the compiler said. Optional: "id"; "files", an object of paths and contents;
    "target", the file that was compiled; "commands", a list whose last one failed. Each line of the output has the "id", the
    "category", the missing "headers" and "how" it was decided.
    """
    if no_model and no_facts:
        raise click.UsageError("--no-model and --no-facts leave nothing to decide by: give one of them.")
    asyncio.run(_classify(file, no_model, verify, no_facts))


async def _classify(lines: Iterable[str], no_model: bool, verify: bool, no_facts: bool) -> None:
    from agent.compiling.rows import classify_rows

    if no_model:
        async for row in classify_rows(lines, verify=verify):
            _say(row)
        return
    from agent.compiling.classifying.questions import RunQuestions
    from agent.config.schema import load
    from agent.directories import data_directory
    from agent.session import asking_session

    folder = data_directory() / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    async with asking_session("classify", folder, load(Path("."))) as ctx:
        async for row in classify_rows(lines, verify=verify, llm=RunQuestions(ctx), use_facts=not no_facts):
            _say(row)


@click.command()
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"))
def signals(file: Iterable[str]) -> None:
    """Extract the failure signals of recorded outputs in a JSONL FILE ("-" for standard input).

    Each line is an object with "text", the output. Optional: "id", "command" and "exit_code".
    """
    from agent.planning.signals import signal_rows

    for number, line in enumerate(file, 1):
        try:
            for row in signal_rows([line]):
                _say(row)
        except ValueError as error:
            _say({"line": number, "error": str(error).replace("ine 1", f"ine {number}", 1)})


def _say(row: dict[str, Any]) -> None:
    say_data(json.dumps(row, ensure_ascii=False))
