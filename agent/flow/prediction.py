"""About how many calls a task will take, said before it is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.coding.open_items import find_open_functions
from agent.config.schema import Config
from agent.retrieval import pipeline

if TYPE_CHECKING:
    from agent.index import Index


def predict_calls(index: Index, task: str, config: Config) -> int:
    """The calls of retrieval; where everything is taken without a question, one for each function that is still open. No
    model is asked. Blocking."""
    whole = pipeline.taken_whole(index, task, config)
    if whole is None:
        return pipeline.predict_calls(index, task, config)
    files = {file.path: index.source(file.path) for file in whole.files}
    return sum(one.path in files or index.file(one.path) is None for one in find_open_functions(files))
