"""The configured limits of a command."""

from __future__ import annotations

from agent.context import RunContext
from agent.workspace.sandbox import Limits

_MIB = 1 << 20


def limits_of(ctx: RunContext, readable: tuple[str, ...] = ()) -> Limits:
    """The limits in bytes and seconds. ``readable`` are folders that this one command may read besides."""
    box = ctx.config.sandbox
    return Limits(
        memory=box.memory_mib * _MIB, file_size=box.file_mib * _MIB, processes=box.processes, cpu=box.cpu_seconds,
        network=box.network, readable=(*box.readable, *readable),
    )  # fmt: skip
