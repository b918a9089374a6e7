"""Applying a run: all of it or nothing, and the person's edits made meanwhile survive."""

import os
import random
import stat

import pytest

from agent.workspace import apply as applying
from agent.workspace.clean_room import work_folder
from agent.workspace.git import WorkspaceError
from agent.workspace.journal import Journal, recover
from agent.workspace.worktree import Workspace
from tests.workspace.support import fingerprint, git, make_repo

LINES = "".join(f"line {n};\n" for n in range(1, 21))


async def run_with(repo, run="r1", **files):
    space = await Workspace.create(repo, run)
    for name, text in files.items():
        path = name.replace("__", "/").replace("_c", ".c")
        if text is None:
            space.resolve(path).unlink()
        else:
            space.write_bytes(path, text.encode())
    await space.commit("Step")
    return space


async def test_changes_new_files_and_deletions_arrive(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", "b.c": "int b;\n", "d/only.c": "x\n"})
    (repo / "b.c").chmod(0o755)
    git(repo, "commit", "-qam", "Mode")
    head = git(repo, "rev-parse", "HEAD")
    space = await run_with(repo, a_c="int z;\n", n__m_c="new\n", b_c="int y;\n", d__only_c=None)
    result = await space.apply_to_user_tree()
    assert result.ok and result.files == ("a.c", "b.c", "d/only.c", "n/m.c") and result.text == "Applied to 4 files."
    assert (repo / "a.c").read_text() == "int z;\n" and (repo / "n" / "m.c").read_text() == "new\n"
    assert stat.S_IMODE((repo / "b.c").stat().st_mode) == 0o755
    assert not (repo / "d").exists()
    assert git(repo, "rev-parse", "HEAD") == head and git(repo, "diff", "--cached") == ""
    again = await space.apply_to_user_tree()
    assert again.ok and again.files == () and "already" in again.text


async def test_nothing_changed_is_said(tmp_path):
    space = await Workspace.create(make_repo(tmp_path / "repo"), "r1")
    assert "changed no file" in (await space.apply_to_user_tree()).text


async def test_edits_elsewhere_in_the_same_file_are_merged(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": LINES})
    space = await run_with(repo, a_c=LINES.replace("line 3;", "line three;"))
    (repo / "a.c").write_text(LINES.replace("line 17;", "line seventeen;"))
    (repo / "other.c").write_text("mine\n")
    result = await space.apply_to_user_tree()
    assert result.ok and result.merged == ("a.c",) and "your own edits in a.c" in result.text
    assert (repo / "a.c").read_text() == LINES.replace("line 3;", "line three;").replace("line 17;", "line seventeen;")
    assert (repo / "other.c").read_text() == "mine\n"


async def test_uncommitted_edits_that_were_carried_in_are_no_conflict(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": LINES})
    (repo / "a.c").write_text(LINES + "mine;\n")
    space = await run_with(repo, a_c=LINES + "mine;\nours;\n")
    assert "mine;" not in "".join(line for line in (await space.diff()).splitlines() if line.startswith("+"))
    assert (await space.apply_to_user_tree()).ok
    assert (repo / "a.c").read_text() == LINES + "mine;\nours;\n"


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("same line", "same lines"),
        ("deleted", "you deleted it"),
        ("new file there", "another file there"),
        ("folder there", "a folder or a special file"),
        ("file for a folder", "so no folder of that name"),
        ("folder is a link", "leads out of the repository"),
        ("deleted by the run", "the run deletes it"),
        ("binary", "binary"),
        ("link instead", "symbolic link"),
        ("unreadable", "cannot be read"),
    ],
)
async def test_a_conflict_in_one_file_leaves_all_as_it_is(tmp_path, what, words):
    repo = make_repo(tmp_path / "repo", {"a.c": LINES, "b.c": "int b;\n", "z.c": "int z;\n"})
    if what == "unreadable" and os.getuid() == 0:
        pytest.skip("root reads everything")
    files = {"b_c": "int changed;\n", "z_c": "int changed;\n", "a_c": LINES.replace("line 3;", "run;")}
    if what == "deleted by the run":
        files["a_c"] = None
    if what in ("new file there", "folder there"):
        files["n_c"] = "the run's\n"
    if what in ("file for a folder", "folder is a link"):
        files["d__n_c"] = "the run's\n"
    space = await run_with(repo, **files)
    if what in ("same line", "deleted by the run"):
        (repo / "a.c").write_text(LINES.replace("line 3;", "person;"))
    elif what == "deleted":
        (repo / "a.c").unlink()
    elif what == "new file there":
        (repo / "n.c").write_text("the person's\n")
    elif what == "folder there":
        (repo / "n.c").mkdir()
    elif what == "file for a folder":
        (repo / "d").write_text("a file\n")
    elif what == "folder is a link":
        (tmp_path / "out").mkdir()
        os.symlink(tmp_path / "out", repo / "d")
    elif what == "binary":
        (repo / "a.c").write_bytes(b"\0\1")
    elif what == "link instead":
        (repo / "a.c").unlink()
        os.symlink("b.c", repo / "a.c")
    else:
        (repo / "a.c").write_text("x")
        (repo / "a.c").chmod(0)
    before = fingerprint(repo)
    result = await space.apply_to_user_tree()
    assert not result.ok and len(result.conflicts) == 1 and result.files == ()
    assert words in result.text and result.conflicts[0] in result.text and "Nothing was applied" in result.text
    assert "on the branch cra/r1" in result.text and "git merge cra/r1" in result.text
    assert fingerprint(repo) == before
    assert not list(work_folder(repo).glob("*.apply"))


async def test_the_person_may_commit_and_switch_meanwhile(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": LINES})
    space = await run_with(repo, a_c=LINES.replace("line 3;", "run;"))
    git(repo, "checkout", "-q", "-b", "elsewhere")
    (repo / "a.c").write_text(LINES.replace("line 18;", "person;"))
    git(repo, "commit", "-qam", "Person's")
    assert (await space.apply_to_user_tree()).ok
    assert "run;" in (repo / "a.c").read_text() and "person;" in (repo / "a.c").read_text()
    assert git(repo, "branch", "--show-current").strip() == "elsewhere"


async def test_modes_links_and_newline_conversion(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.sh": "echo\n", "b.c": "int b;\n", ".gitattributes": "b.c text eol=crlf\n"})
    (repo / "b.c").write_bytes(b"int b;\r\n")
    space = await Workspace.create(repo, "r1")
    assert space.resolve("b.c").read_bytes() == b"int b;\r\n"
    space.resolve("a.sh").chmod(0o755)
    space.write_bytes("b.c", b"int b;\nint c;\n")
    os.symlink("a.sh", space.root / "link")
    space.note_written("a.sh")
    git(space.root, "add", "link")
    await space.commit("Step")
    assert (await space.apply_to_user_tree()).ok
    assert (repo / "a.sh").stat().st_mode & stat.S_IXUSR
    assert (repo / "b.c").read_bytes() == b"int b;\r\nint c;\r\n"
    assert os.readlink(repo / "link") == "a.sh"


async def test_lines_ended_differently_than_git_would_are_no_conflict(tmp_path):
    repo = make_repo(tmp_path / "repo", {"b.c": "int b;\n"})
    git(repo, "config", "core.autocrlf", "true")
    space = await run_with(repo, b_c="int b;\nint c;\n")
    assert (repo / "b.c").read_bytes() == b"int b;\n"
    result = await space.apply_to_user_tree()
    assert result.ok, result.text
    assert (repo / "b.c").read_bytes() == b"int b;\nint c;\n"


@pytest.mark.parametrize("at", [0, 1, 2])
async def test_an_error_half_way_puts_everything_back(tmp_path, monkeypatch, at):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", "b.c": "int b;\n", "c.c": "int c;\n"})
    space = await run_with(repo, a_c="int x;\n", b_c=None, c_c="int y;\n", d__n_c="new\n")
    before = fingerprint(repo)
    write_one, count = applying.Apply._write_one, 0

    def failing(self, change):
        nonlocal count
        count += 1
        if count == at + 1:
            raise OSError(28, "No space left on device")
        write_one(self, change)

    monkeypatch.setattr(applying.Apply, "_write_one", failing)
    with pytest.raises(WorkspaceError, match="your files are as they were"):
        await space.apply_to_user_tree()
    assert fingerprint(repo) == before
    monkeypatch.undo()
    assert (await space.apply_to_user_tree()).ok


async def test_a_file_saved_at_this_very_moment_is_not_overwritten(tmp_path, monkeypatch):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", "b.c": "int b;\n"})
    space = await run_with(repo, a_c="int x;\n", b_c="int y;\n")
    seal = Journal.seal

    def saving(self):
        seal(self)
        (repo / "b.c").write_text("int saved;\n")

    monkeypatch.setattr(Journal, "seal", saving)
    with pytest.raises(WorkspaceError, match=r"b\.c changed just now"):
        await space.apply_to_user_tree()
    assert (repo / "a.c").read_text() == "int a;\n" and (repo / "b.c").read_text() == "int saved;\n"


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_both_sides_edit_nothing_is_lost(tmp_path, seed):
    chance = random.Random(seed)
    names = ["a.c", "b.c", "c.c"]
    repo = make_repo(tmp_path / "repo", dict.fromkeys(names, LINES))

    def edited(who):
        return {name: [f"{who} {n};" if chance.random() < 0.08 else "" for n in range(1, 21)] for name in names}

    def text(edits):
        return "".join(f"{edit or f'line {n};'}\n" for n, edit in enumerate(edits, 1))

    ours, theirs = edited("run"), edited("person")
    space = await Workspace.create(repo, "r1")
    for name in names:
        space.write_bytes(name, text(ours[name]).encode())
    await space.commit("Step")
    for name in names:
        (repo / name).write_text(text(theirs[name]))
    before = fingerprint(repo)
    result = await space.apply_to_user_tree()
    if not result.ok:
        assert fingerprint(repo) == before
        return
    for name in names:
        merged = [mine or his for mine, his in zip(ours[name], theirs[name], strict=True)]
        assert (repo / name).read_text() == text(merged)


async def test_an_apply_under_way_elsewhere_is_not_undone(tmp_path):
    repo = make_repo(tmp_path / "repo")
    space = await run_with(repo, a_c="int x;\n")
    journal = Journal(repo, "r1", repo)
    journal.remember("a.c", b"int x;\n")
    journal.seal()
    (repo / "a.c").write_text("int x;\n")
    assert recover(repo) == [] and (repo / "a.c").read_text() == "int x;\n"
    with pytest.raises(WorkspaceError, match="another process"):
        Journal(repo, "r1", repo)
    journal.undo()
    assert (repo / "a.c").read_text() == "int a;\n"
    assert (await space.apply_to_user_tree()).ok


async def test_what_the_person_did_to_a_file_after_a_kill_stays_and_the_rest_is_undone_at_the_next_start(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.c": "int a;\n", "b.c": "int b;\n", "c.c": "int c;\n"})
    await run_with(repo, a_c="int x;\n", b_c=None, c_c="int y;\n", d__n_c="new\n")
    before = fingerprint(repo)
    journal = Journal(repo, "r1", repo)
    for path, new in (("a.c", b"int x;\n"), ("b.c", None), ("c.c", b"int y;\n"), ("d/n.c", b"new\n")):
        journal.remember(path, new)
    journal.seal()
    journal.unlock()  # as the end of its process does
    (repo / "a.c").write_text("int mine;\n")
    (repo / "b.c").unlink()
    (repo / "c.c").write_text("int y;\n")
    again = await Workspace.reopen(repo, "r1")
    assert (repo / "a.c").read_text() == "int mine;\n"
    (repo / "a.c").write_text("int a;\n")
    assert fingerprint(repo) == before
    assert (await again.apply_to_user_tree()).ok and (repo / "d" / "n.c").read_text() == "new\n"


async def test_an_undoing_that_fails_keeps_the_old_contents_for_the_next_try(tmp_path, monkeypatch):
    repo = make_repo(tmp_path / "repo")
    space = await run_with(repo, a_c="int x;\n")
    journal = Journal(repo, "r1", repo)
    journal.remember("a.c", b"int x;\n")
    journal.seal()
    (repo / "a.c").write_text("int x;\n")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(WorkspaceError):
        patch.setattr(os, "replace", full)
        journal.undo()
    assert (repo / "a.c").read_text() == "int x;\n"
    again = Journal(repo, "r1", repo)  # another apply begins by undoing what was left
    assert (repo / "a.c").read_text() == "int a;\n"
    again.undo()
    assert (await space.apply_to_user_tree()).ok
