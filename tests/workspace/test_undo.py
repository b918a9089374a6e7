"""An applied change can be taken back as long as the files are as it left them: all of it or nothing."""

from pathlib import Path

from agent.audit.change_fate import fate_of
from agent.audit.log import AuditLog, log_path
from agent.audit.reader import LogReader
from agent.events import DiffReady, DiffResolved, Envelope, RunFinished, RunStarted
from agent.flow.change import decide, take_back
from agent.workspace.undo import KEPT, can_undo, prune, undo, undo_folder
from agent.workspace.worktree import Workspace
from tests.workspace.support import fingerprint, make_repo


async def applied(repo: Path, run: str = "r1") -> None:
    space = await Workspace.create(repo, run)
    space.write_bytes("a.c", b"int z;\n")
    space.write_bytes("n/new.c", b"new\n")
    space.resolve("d/gone.c").unlink()
    await space.commit("Step")
    assert (await space.apply_to_user_tree()).ok
    await space.keep()


def repository(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "repo", {"a.c": "int a;\n", "d/gone.c": "x\n", "other.c": "o\n"})


async def test_everything_is_as_before_the_apply(tmp_path):
    repo = repository(tmp_path)
    before = fingerprint(repo, refs=False)
    await applied(repo)
    assert fingerprint(repo, refs=False) != before and can_undo(repo, "r1")
    done, text = undo(repo, "r1")
    assert done and text == "Taken back: 3 files are as before the apply."
    assert fingerprint(repo, refs=False) == before
    assert not can_undo(repo, "r1") and undo(repo, "r1")[0] is False


async def test_nothing_is_taken_back_when_a_file_was_changed_since(tmp_path):
    repo = repository(tmp_path)
    await applied(repo)
    (repo / "a.c").write_text("int mine;\n")
    before = fingerprint(repo)
    done, text = undo(repo, "r1")
    assert not done and "you changed a.c" in text and fingerprint(repo) == before
    (repo / "a.c").write_text("int z;\n")
    assert undo(repo, "r1")[0], "as the apply left it again"


async def test_what_the_person_did_elsewhere_is_kept(tmp_path):
    repo = repository(tmp_path)
    await applied(repo)
    (repo / "other.c").write_text("mine\n")
    assert undo(repo, "r1")[0]
    assert (repo / "other.c").read_text() == "mine\n" and (repo / "a.c").read_text() == "int a;\n"


async def test_an_undo_that_was_cut_off_goes_on(tmp_path):
    repo = repository(tmp_path)
    before = fingerprint(repo, refs=False)
    await applied(repo)
    (repo / "a.c").write_text("int a;\n")  # put back already when it was cut off
    (repo / "n" / "new.c").unlink()
    assert undo(repo, "r1")[0]
    (repo / "n").exists() and (repo / "n").rmdir()
    assert fingerprint(repo, refs=False) == before


async def test_old_contents_are_kept_of_the_newest_applies_only(tmp_path):
    repo = repository(tmp_path)
    await applied(repo)
    for number in range(KEPT + 3):
        undo_folder(repo, f"later{number}").mkdir()
    prune(repo)
    assert len(list(undo_folder(repo, "r1").parent.iterdir())) == KEPT and not can_undo(repo, "r1")


async def test_the_log_says_so_and_the_branch_still_has_the_work(tmp_path):
    repo = repository(tmp_path)
    log = AuditLog(log_path(repo))
    space = await Workspace.create(repo, "r1")
    for seq, event in enumerate((RunStarted("t", str(repo)), DiffReady("d", ("a.c",)), RunFinished("complete")), 1):
        log.append(Envelope("r1", seq, 1.0, event))
    log.close()
    space.write_bytes("a.c", b"int z;\n")
    await space.commit("Step")
    assert (await decide(repo, "r1", "apply"))[0] and (repo / "a.c").read_text() == "int z;\n"
    assert (await take_back(repo, "r1"))[0] and (repo / "a.c").read_text() == "int a;\n"
    reader = LogReader(log_path(repo))
    last = list(reader.events("r1"))[-1].event
    fate = fate_of(reader, "r1")
    reader.close()
    assert fate.choice == "undone" and isinstance(last, DiffResolved) and last.choice == "undone"
