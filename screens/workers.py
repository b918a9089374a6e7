"""Starting asynchronous work from a screen or the application."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from textual.dom import DOMNode


def start(owner: DOMNode, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any, group: str) -> None:
    """Run ``work(*arguments)`` as a worker of ``owner``, in place of any other of its group.

    The coroutine is made only when it runs, so that one replaced before its turn leaves nothing behind. An error stays in
    the worker: it does not end the application.
    """
    job: Any = partial(work, *arguments)
    owner.run_worker(job, group=group, exclusive=True, exit_on_error=False)
