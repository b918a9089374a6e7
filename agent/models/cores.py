"""How many threads a model server on this machine should have."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path


def physical_cores() -> int:
    """Physical cores this process may use, at least 1. Token generation is bound by memory, so more threads
    slow it down (two servers of two threads on two cores: 0.6 tokens a second instead of 15)."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    found = _linux_cores() or _mac_cores() or usable
    return max(1, min(found, usable, _quota()))


def _linux_cores() -> int:
    try:
        blocks = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")
    except OSError:
        return 0
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    cores = set()
    for block in blocks:
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {key.strip(): value.strip() for key, _, value in pairs}
        if "core id" not in fields:
            continue
        if allowed is None or int(fields.get("processor", -1)) in allowed:
            cores.add((fields.get("physical id", "0"), fields["core id"]))
    return len(cores)


def _mac_cores() -> int:
    if sys.platform != "darwin":
        return 0
    for name in ("hw.perflevel0.physicalcpu", "hw.physicalcpu"):
        done = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip().isdigit():
            return int(done.stdout)
    return 0


def _quota() -> int:
    """Cores a container's CPU quota (cgroup v2) amounts to; very many when there is none."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 1 << 16
    return 1 << 16 if quota == "max" else max(1, math.ceil(int(quota) / int(period)))
