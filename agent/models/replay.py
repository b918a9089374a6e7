"""Answers from a recorded run, for tests and demos without a model."""

from __future__ import annotations

from collections.abc import Callable

from agent.models.types import Completion, CompletionRequest, ModelError, ModelInfo, ModelTarget

Lookup = Callable[[CompletionRequest], Completion | None]
"""Finds the recorded answer to a request: an exact prompt first, else the next one of the same stage and item."""


class Recorded:
    """Recorded answers in order. An exact (stage, system, prompt) wins; else the next unused one of the stage whose
    question is the same; else the next unused one of the stage."""

    def __init__(self, rows: list[tuple[str, str, str, str, Completion]]) -> None:
        """``rows``: (stage, item, system, prompt, completion), in the order they were recorded."""
        self._rows = rows
        self._used: set[int] = set()

    def __call__(self, request: CompletionRequest) -> Completion | None:
        same_stage = [n for n, row in enumerate(self._rows) if row[0] == request.stage]
        exact = [n for n in same_stage if self._rows[n][2:4] == (request.system, request.prompt)]
        item = [n for n in same_stage if self._rows[n][1] and self._rows[n][1] in (request.question or request.prompt)]
        for candidates in (exact, item, same_stage):
            unused = [n for n in candidates if n not in self._used]
            if unused or (candidates and candidates is exact):
                number = unused[0] if unused else candidates[-1]
                self._used.add(number)
                return self._rows[number][4]
        return None


class ReplayProvider:
    """Answers by ``lookup``; no model, no network."""

    name = "replay"

    def __init__(self, lookup: Lookup | None = None) -> None:
        self._lookup = lookup

    async def complete(self, request: CompletionRequest) -> Completion:
        """The recorded answer.

        Raises:
            ModelError: ``missing`` if the recording holds none.
        """
        found = self._lookup(request) if self._lookup is not None else None
        if found is None:
            raise ModelError(
                "missing",
                f"The recording holds no answer for a call of stage {request.stage!r}.",
                "Replay it on the repository state it was recorded on, or choose another provider.",
            )
        return found

    async def count_tokens(self, text: str, target: ModelTarget) -> int | None:
        """A recording has no tokenizer."""
        return None

    async def check(self, target: ModelTarget) -> ModelInfo:
        """Whether there is a recording to answer from."""
        if self._lookup is None:
            hint = 'Name one: models.replay = "PATH", a raw.sqlite or its repository.'
            return ModelInfo(ok=False, text="No recording was given to replay.", hint=hint)
        return ModelInfo(ok=True, text="Answers come from a recording.")

    async def aclose(self) -> None:
        """Nothing to close."""
