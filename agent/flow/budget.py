"""What a run may spend on more than one version of what it writes: seconds and calls, with what is left."""

from __future__ import annotations

from agent.context import RunContext


class Budget:
    """Of one run, counted from its beginning. What is planned is written once, whatever it costs; further candidates,
    repairs and tests that nobody asked for end with the budget."""

    def __init__(self, ctx: RunContext) -> None:
        self.ctx = ctx
        self._told = False

    @property
    def seconds_left(self) -> float | None:
        """None where there is no limit."""
        limit = self.ctx.config.coding.budget_s
        return max(0.0, limit - self.ctx.seconds()) if limit else None

    @property
    def calls_left(self) -> int | None:
        """None where there is no limit."""
        limit = self.ctx.config.coding.budget_calls
        return max(0, limit - self.ctx.calls) if limit else None

    @property
    def spent(self) -> bool:
        """Whether nothing is left of the seconds or of the calls."""
        return self.seconds_left == 0 or self.calls_left == 0

    def allows(self) -> bool:
        """Whether another candidate may be asked for. Tells of the end once."""
        if self.spent and not self._told:
            self._told = True
            limits = self.ctx.config.coding
            text = f"The budget for further candidates is used up ({limits.budget_s} s"
            text += f", {limits.budget_calls} calls" if limits.budget_calls else ""
            self.ctx.notice("info", f"{text}): the run ends with the best that it has.", "budget")
        return not self.spent

    def shown(self) -> str:
        """What is left, in a few words; "" where there is no limit."""
        left = [] if self.seconds_left is None else [f"{self.seconds_left:.0f} s"]
        left += [] if self.calls_left is None else [f"{self.calls_left} calls"]
        return f"{' and '.join(left)} left" if left else ""
