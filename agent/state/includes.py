"""The include lines that a run put in and that stand: those of versions and steps that were taken back went with them."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.events import Event, IncludeAdded, RunStarted, StepFinished, StepStarted


@dataclass(slots=True)
class StandingIncludes:
    """A fold over a run's events. ``lines`` are (file, whole line)."""

    lines: set[tuple[str, str]] = field(default_factory=set)
    _open: set[str] = field(default_factory=set)
    _before: set[tuple[str, str]] | None = None
    """What stood before the step under way; None without one, and where several began together: of those that failed the
    versions are taken back one by one."""

    def __len__(self) -> int:
        return len(self.lines)

    def hear(self, event: Event) -> None:
        """Take one event in; most kinds say nothing about includes."""
        match event:
            case IncludeAdded():
                (self.lines.add if event.kept else self.lines.discard)((event.file, event.spelling))
            case StepStarted():
                self._before = None if self._open else set(self.lines)
                self._open.add(event.step_id)
            case StepFinished():
                self._end(event.step_id, event.rolled_back)
            case RunStarted():
                self.break_off()

    def break_off(self) -> None:
        """The run was broken off: what the step under way had not committed is gone."""
        for step in tuple(self._open):
            self._end(step, True)

    def _end(self, step: str, rolled_back: bool) -> None:
        if step in self._open and rolled_back and self._before is not None:
            self.lines = self._before
        self._open.discard(step)
        self._before = None
