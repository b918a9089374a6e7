"""Exit codes of every command."""

DONE = 0
NOT_SOLVED = 1
USAGE = 2
MISSING = 3
STOPPED = 130

OF_STATUS = {"complete": DONE, "partial": NOT_SOLVED, "failed": NOT_SOLVED, "stopped": STOPPED}
"""What a run's status means for the shell."""
