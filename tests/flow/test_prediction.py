"""How many calls Home says a task will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.config.schema import Config, merge
from agent.flow.prediction import predict_calls
from agent.index import Index
from agent.retrieval import pipeline
from agent.workspace.demo import create_demo, load_demo


@pytest.mark.parametrize(
    ("demo", "config", "asked"),
    [("ring_buffer", Config(), False), ("ring_buffer", merge({"retrieval": {"always_ask": True}}), True),
     ("token_budget", Config(), True)],
)  # fmt: skip
def test_what_is_taken_without_a_question_counts_only_what_is_to_be_written(
    demo: str, config: Config, asked: bool, tmp_path: Path
) -> None:
    task = load_demo(demo).task
    index = Index.open(create_demo(demo, tmp_path / demo))
    try:
        index.refresh()
        retrieval = pipeline.predict_calls(index, task, config)
        assert predict_calls(index, task, config) == (retrieval if asked else 8)
    finally:
        index.close()
