"""Small real repositories for the retrieval tests, with history."""

from __future__ import annotations

import subprocess
from pathlib import Path

BUDGET = '''"""Tracks the token budget of a context."""

from token_estimation import estimate_tokens


class BudgetTracker:
    """Tracks token budget consumption during context assembly."""

    limit: int
    used: int

    def can_fit(self, text: str) -> bool:
        """Whether a text still fits."""
        return self.used + estimate_tokens(text) < self.limit

    @property
    def remaining(self) -> int:
        """Tokens left."""
        return self.limit - self.used
'''

TOKEN_ESTIMATION = '''"""Estimates token counts from text."""

CHARS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate token count from character count."""
    return -(-len(text) // CHARS_PER_TOKEN)


def estimate_tokens_conservative(text: str) -> int:
    """Estimate on the high side."""
    return len(text) // 3 + 1
'''

CONTEXT_ASSEMBLY = '''"""Assembles a context from classified files."""

from httpx import Client
from sqlite3 import Connection

from budget import BudgetTracker


def assemble_context(files: list[str], tracker: BudgetTracker, log: Connection) -> str:
    """Joins the files that fit the budget."""
    return "".join(text for text in _refilter_files(files) if tracker.can_fit(text))


def _refilter_files(files: list[str], client: Client | None = None) -> list[str]:
    """Drops empty files."""
    return [text for text in files if text]
'''

PIPELINE = '''"""Orchestrates the retrieval stages."""

from context_assembly import assemble_context

if __name__ == "__main__":
    print(assemble_context([], None, None))
'''

SCOPE_STAGE = '''"""Scope expansion and judgment: which files count, whatever their share of the token budget."""


def expand_scope(names: list[str]) -> list[str]:
    """Adds neighbours."""
    return sorted(names)


def judge_scope(names: list[str]) -> list[str]:
    """Keeps what is relevant."""
    return [name for name in names if name]
'''

WORKED_EXAMPLE = {
    "budget.py": BUDGET,
    "token_estimation.py": TOKEN_ESTIMATION,
    "context_assembly.py": CONTEXT_ASSEMBLY,
    "pipeline.py": PIPELINE,
    "scope_stage.py": SCOPE_STAGE,
}

TASK = (
    "Fix the off-by-one error in the token budget calculation that causes the last file to be silently dropped from the "
    "context window. BudgetTracker.can_fit decides it; estimates come from token_estimation.py."
)


def git(root: Path, *arguments: str) -> str:
    """One git command in ``root``."""
    done = subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", *arguments],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def write(root: Path, files: dict[str, str]) -> None:
    """Files with their folders."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commit(root: Path, files: dict[str, str], message: str) -> None:
    """One commit of these files, in a new repository if need be."""
    root.mkdir(parents=True, exist_ok=True)
    if not (root / ".git").exists():
        git(root, "init", "-q", "-b", "main")
    write(root, files)
    git(root, "add", "--", *files)
    git(root, "commit", "-q", "-m", message)


def worked_example(root: Path) -> Path:
    """The worked example's repository: pipeline.py changed four times together with budget.py."""
    for name, text in WORKED_EXAMPLE.items():
        if name not in ("budget.py", "pipeline.py"):
            commit(root, {name: text}, f"Write {name}")
    for number in range(3):
        note = f"\n# draft {number}\n"
        commit(root, {"budget.py": BUDGET + note, "pipeline.py": PIPELINE + note}, f"Draft {number}")
    commit(root, {"budget.py": BUDGET, "pipeline.py": PIPELINE}, "Finish")
    return root
