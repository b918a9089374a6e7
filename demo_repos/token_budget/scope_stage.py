"""Scope expansion and judgment: picks the files that the budget will be spent on."""


def expand_scope(words: list[str], files: dict[str, str]) -> list[str]:
    """Candidate files in tiers: first those whose path holds one of ``words``, then those whose text does."""
    named = [path for path in files if any(word in path for word in words)]
    worded = [path for path in files if path not in named and any(word in files[path] for word in words)]
    return named + worded


def judge_scope(candidates: list[str], most: int) -> list[str]:
    """The first ``most`` candidates that are source files."""
    return [path for path in candidates if path.endswith((".py", ".c", ".h"))][:most]
