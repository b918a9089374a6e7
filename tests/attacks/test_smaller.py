"""The smaller leaks and silences."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest

from agent.audit.log import AuditLog, LogError, log_path
from agent.config.edit import ConfigDraft
from agent.config.errors import ConfigError
from agent.config.schema import repo_config_path
from agent.labels.export_formats import CSV_COLUMNS, encode_rows
from agent.models import faults
from agent.models.http import without_credentials
from agent.models.openai import OpenAIProvider
from agent.workspace import sweeping
from agent.workspace.demo import create_demo
from tests.workspace.support import make_repo
from tui.cli import _expected


def test_the_log_is_its_owners_alone(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=str(tmp_path), model="m")
    for suffix in ("", "-wal", "-shm"):
        assert os.stat(f"{log.path}{suffix}").st_mode & 0o077 == 0
    log.close()


async def test_a_log_that_vanishes_is_noticed(tmp_path: Path) -> None:
    log = AuditLog(log_path(tmp_path))
    log.start_run("r1", task="t", repo=str(tmp_path), model="m")
    await log.durable()
    log.path.unlink()
    log.start_run("r2", task="t", repo=str(tmp_path), model="m")
    with pytest.raises(LogError, match="removed or replaced"):
        await log.durable()


def test_a_cell_is_no_formula() -> None:
    row = dict.fromkeys(CSV_COLUMNS, "") | {CSV_COLUMNS[1]: "=cmd|'/c calc'!A1"}
    rows = list(csv.reader(io.StringIO(encode_rows([row], "csv").decode())))
    assert rows[1][1].startswith("'=")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://ada:hunter2@127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
        ("https://token@host.example", "https://host.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
async def test_no_password_of_an_address_is_shown(address: str, shown: str) -> None:
    plain, headers = without_credentials(address)
    assert plain == shown and (headers == {}) == (address == shown)
    provider = OpenAIProvider(address)
    assert "hunter2" not in provider.base_url and "token" not in provider.base_url
    await provider.aclose()


def test_a_server_that_was_cut_off_did_answer() -> None:
    assert "answered, but was cut off" in str(faults.cut_off("http://x", "broken pipe"))


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(2, "No such file or directory", "x.c"),
        OSError(28, "No space left on device"),
        ExceptionGroup("together", [ValueError("ours"), PermissionError(13, "Permission denied", "x.c")]),
        ExceptionGroup("together", [ExceptionGroup("deeper", [LogError("The log is full.")])]),
    ],
)
def test_expected_faults_are_sentences(error: Exception) -> None:
    found = _expected(error)
    assert found is not None and found[0].endswith(".") and "Traceback" not in found[0]


def test_a_fault_of_ours_is_none() -> None:
    assert _expected(ExceptionGroup("together", [ValueError("ours")])) is None
    assert _expected(TimeoutError()) is None


def test_the_settings_form_refuses_what_would_not_count(tmp_path: Path) -> None:
    draft = ConfigDraft(repo_config_path(make_repo(tmp_path / "repo")))
    for section, key, value in (
        ("compile", "compiler", "./cc"),
        ("models", "api_key_env", "K"),
        ("sandbox", "network", True),
    ):
        with pytest.raises(ConfigError, match="set it in your own file"):
            draft.set(section, key, value)
    draft.set("coding", "samples", 2)
    ConfigDraft(repo_config_path(create_demo("ring_buffer"))).set("compile", "compiler", "gcc")
    ConfigDraft(tmp_path / "config.toml").set("sandbox", "network", True)


def test_what_killed_runs_left_in_the_temporary_folder_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("cra-home-old", "cra-home-new", "other-old"):
        (tmp_path / name).mkdir()
    (tmp_path / "cra-tests-link").symlink_to(tmp_path / "other-old")
    for name in ("cra-home-old", "other-old", "cra-tests-link"):
        os.utime(tmp_path / name, (1, 1), follow_symlinks=False)
    sweeping.sweep_temporary()
    assert sorted(os.listdir(tmp_path)) == ["cra-home-new", "other-old"]
