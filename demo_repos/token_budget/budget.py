"""Keeps count of the tokens of a context window."""

from token_estimation import estimate_tokens


class BudgetTracker:
    """Tracks token budget consumption during context assembly.

    ``limit`` is the number of tokens there is room for, ``taken`` the texts that were let in so far.
    """

    limit: int = 8192
    taken: tuple[str, ...] = ()

    @property
    def remaining(self) -> int:
        """Tokens that are still free."""
        return self.limit - sum(estimate_tokens(text) for text in self.taken)

    def can_fit(self, text: str) -> bool:
        """Whether ``text`` still fits: a text that fills the budget to the last token does."""
        return estimate_tokens(text) < self.remaining
