"""The model store: found, verified, marked; a damaged file is never taken for a whole one."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from agent.models import store
from agent.models.types import ModelError

CONTENT = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> store.ModelEntry:
    """A registry of one small model, and a data folder of its own."""
    made = store.ModelEntry(
        "toy", "Toy", "toy.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "MIT", "1M", 512, ("Toy:latest",),
        thresholds={"scope": store.ThresholdDefault(0.4, 1.5, n=30, note="fitted")},
    )  # fmt: skip
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CRA_MODEL_PATH", raising=False)
    monkeypatch.setattr(store, "registry", lambda: (made,))
    return made


def put(content: bytes = CONTENT) -> Path:
    path = store.models_dir() / "toy.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_shipped_registry_is_sane() -> None:
    entries = store.registry()
    assert entries[0].name == "qwen2.5-coder-1.5b"
    assert len({e.file for e in entries}) == len(entries)
    for entry in entries:
        assert re.fullmatch(r"[0-9a-f]{64}", entry.sha256)
        assert entry.licence
        assert entry.packages is not None
        assert entry.context_window >= 8192


def test_names_aliases_and_paths(entry: store.ModelEntry, tmp_path: Path) -> None:
    assert store.entry_of("TOY:latest") == entry
    assert store.find_model("toy") is None
    path = put()
    assert store.find_model("toy") == path
    own = tmp_path / "own.gguf"
    own.write_bytes(b"x")
    assert store.find_model(str(own)) == own
    assert [(m.entry.name, m.path) for m in store.list_models()] == [("toy", path)]


def test_what_is_missing_says_what_to_do(entry: store.ModelEntry) -> None:
    with pytest.raises(ModelError) as caught:
        store.require_model("toy")
    assert caught.value.hint == "cra models pull toy"
    with pytest.raises(ModelError) as unknown:
        store.require_model("tyo")
    assert "Did you mean 'toy'" in unknown.value.hint
    with pytest.raises(ModelError, match=r"no model file 'gone\.gguf'"):
        store.require_model("gone.gguf")


def test_a_cut_file_is_not_found(entry: store.ModelEntry) -> None:
    put(CONTENT[:-1])
    assert store.find_model("toy") is None


def test_damage_is_found_and_a_verified_file_is_not_read_again(
    entry: store.ModelEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(b"X" + CONTENT[1:])
    with pytest.raises(ModelError, match="is damaged"):
        store.verify("toy")
    put()
    seen: list[tuple[int, int, str]] = []
    assert store.verify("toy", lambda *what: seen.append(what)) == path
    assert seen[-1][:2] == (entry.size, entry.size)
    monkeypatch.setattr(store, "sha256_of", lambda *_: pytest.fail("read again"))
    assert store.verify("toy") == path
    put(b"Y" + CONTENT[1:])  # same size, new time: the marker no longer holds
    with pytest.raises(pytest.fail.Exception):
        store.verify("toy")


def test_a_file_elsewhere_is_used_in_place(entry: store.ModelEntry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "elsewhere" / "any-name.gguf"
    other.parent.mkdir()
    other.write_bytes(CONTENT)
    monkeypatch.setenv("CRA_MODEL_PATH", str(other))
    assert store.verify("toy") == other
    (other.parent / "toy.gguf").write_bytes(CONTENT)
    monkeypatch.setenv("CRA_MODEL_PATH", str(other.parent))
    assert store.find_model("toy") == other.parent / "toy.gguf"


def test_thresholds_come_with_the_model(entry: store.ModelEntry) -> None:
    assert store.default_thresholds("toy")["scope"].rank_weight == 1.5
    assert store.default_thresholds("unknown") == {}
