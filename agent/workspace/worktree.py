"""Where a run works: a git worktree on a branch of its own, or outside git a copy.

The person's checkout is read, never written: not its files, its index, its stash, nor its branch. Only
:meth:`Workspace.apply_to_user_tree`, called when they accept, writes there. The run's own place lies in the state directory,
outside of the repository, so that code that runs in it cannot reach the person's files by going up.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Iterable
from pathlib import Path

from agent.workspace import apply as applying
from agent.workspace import place, record, submodules
from agent.workspace.clean_room import work_folder
from agent.workspace.git import CheckoutChanged, WorkspaceError, paths, run_git, text
from agent.workspace.paths import resolve_inside, write_atomically


class Workspace:
    """The place of one run. Make it with :meth:`create` or :meth:`reopen`.

    ``repo`` is the person's repository (or folder), ``root`` the same place inside the run's copy: all relative paths
    count from there. ``top`` is the top of the checkout that holds ``root``. ``base`` is the commit that the run's
    diff is taken against: the person's HEAD, or the commit that carries their uncommitted changes in. ``notes`` are
    sentences for the person about what is not as expected.
    """

    def __init__(self, repo: Path, entry: record.PlaceRecord) -> None:
        self.repo = repo
        self.run_id = entry.run
        self.mode = entry.mode
        self.branch = entry.branch
        self.base = entry.base
        self.user_head = entry.user_head
        self.carried = entry.carried
        self.notes = entry.notes
        self._submodules = entry.submodules
        self.top = work_folder(repo) / entry.run
        self._prefix = entry.prefix
        self.root = self.top / entry.prefix if entry.prefix else self.top
        self._user_top = _up(repo, entry.prefix)
        self._written: set[str] = set()

    def add_notes(self, notes: Iterable[str]) -> None:
        """More sentences for the person about this place."""
        self.notes = (*self.notes, *notes)

    # Making a run's place and finding it again.

    @classmethod
    async def create(cls, repo: Path, run_id: str, carry_uncommitted: bool = True) -> Workspace:
        """Make the place of run ``run_id`` for ``repo``.

        With ``carry_uncommitted`` the first commit of the branch holds the person's modified, staged and untracked
        (not ignored) files; ``carried`` says whether there were any.

        Raises:
            WorkspaceError: no such folder, a run id in use, nothing can be written there, or git refuses.
        """
        return await asyncio.to_thread(_create, Path(repo), run_id, carry_uncommitted)

    @classmethod
    async def reopen(cls, repo: Path, run_id: str) -> Workspace:
        """Open the place of a run that was killed. What was not committed by then is dropped: a half-written step.

        Raises:
            WorkspaceError: no such run, or its branch is gone.
        """
        return await asyncio.to_thread(_reopen, Path(repo), run_id)

    # Files of the run.

    def resolve(self, path: str) -> Path:
        """The absolute path of a path relative to ``root``; see :func:`agent.workspace.paths.resolve_inside`.

        Raises:
            PathRefused: it leads elsewhere.
        """
        return resolve_inside(self.root, path)

    @property
    def submodules(self) -> tuple[str, ...]:
        """The submodules whose files are here to be read, by their paths relative to ``root``."""
        below = f"{self._prefix}/" if self._prefix else ""
        return tuple(one.path.removeprefix(below) for one in self._submodules if one.path.startswith(below))

    def resolve_for_writing(self, path: str) -> Path:
        """The absolute path of a file that may be written; see :meth:`resolve`.

        Raises:
            PathRefused: it leads elsewhere.
            WorkspaceError: it is a folder, or in a submodule, whose files the run's commits cannot hold.
        """
        full = self.resolve(path)
        if full.is_dir():
            raise WorkspaceError(f"{path} is a folder, so no file can be written there.")
        if inner := submodules.holding(self.submodules, full.relative_to(self.root.resolve()).as_posix()):
            raise WorkspaceError(
                f"{path} is in the submodule {inner}, which a run reads and does not change. Start a run in that submodule."
            )
        return full

    def write_bytes(self, path: str, data: bytes) -> Path:
        """Write a file whole; one that is there keeps its mode. Returns its path.

        Files that are new are remembered, so that :meth:`commit` takes them in.

        Raises:
            WorkspaceError: the path is refused or cannot be written; the file is then unchanged.
        """
        full = self.resolve_for_writing(path)
        write_atomically(full, data)
        self.note_written(path)
        return full

    def note_written(self, path: str) -> None:
        """Say that a file was made by other means than :meth:`write_bytes` and belongs to the change."""
        full = self.resolve(path)
        self._written.add(full.relative_to(self.top.resolve()).as_posix())

    @property
    def written(self) -> frozenset[str]:
        """Paths, relative to the checkout, written through here since the last commit."""
        return frozenset(self._written)

    # History of the run.

    async def commit(self, message: str) -> str:
        """Commit changed tracked files and new files that were written through here, but nothing that builds and tests left.

        Returns the new commit, or the present one when nothing changed.
        """
        return await asyncio.to_thread(self._commit, message)

    async def head(self) -> str:
        """The commit the run's branch is at."""
        return await asyncio.to_thread(self._head)

    async def drop_leftovers(self) -> None:
        """Remove what builds and tests left, ignored files too, so that the next check is a build from nothing.

        Files that were written through here stay, also those that git ignores: they wait to be committed.
        """
        await asyncio.to_thread(self._drop_leftovers)

    async def rollback(self, commit: str) -> None:
        """Put branch and files back to ``commit``; files written since go, and untracked ones that are not ignored.

        Raises:
            WorkspaceError: it is not a commit of this run.
        """
        await asyncio.to_thread(self._rollback, commit)

    async def content_at(self, commit: str, path: str) -> bytes:
        """A file's content (path relative to ``root``) at a commit of the run.

        Raises:
            WorkspaceError: it is not there.
        """
        where = await asyncio.to_thread(run_git, self.root, "show", f"{commit}:./{path}")
        return where.stdout

    async def diff(self, base: str | None = None) -> str:
        """The unified diff from ``base`` (default: the run's) to the files as they are now, new ones included."""
        return await asyncio.to_thread(self._diff, base)

    async def changed_files(self, base: str | None = None) -> list[str]:
        """Paths, relative to ``root``, that differ from ``base`` (default: the run's)."""
        return await asyncio.to_thread(self._changed, base)

    # What becomes of the change.

    async def apply_to_user_tree(self) -> applying.ApplyResult:
        """Bring the run's committed changes into the person's files: all of them, or none and the reason."""
        job = applying.Apply(self.top, self._user_top, self.repo, self.run_id, self.base, self.mode == "copy")
        return await asyncio.to_thread(job.run)

    async def keep(self) -> str:
        """Remove the worktree and keep the branch (outside git: keep the copy). Returns a sentence that says where.

        What was not committed yet is committed first.
        """
        return await asyncio.to_thread(self._keep)

    async def discard(self) -> str:
        """Remove the worktree and the branch, or the copy. Returns a sentence."""
        return await asyncio.to_thread(self._discard)

    def _head(self) -> str:
        return text(run_git(self.top, "rev-parse", "HEAD"))

    def _commit(self, message: str) -> str:
        _stage_tracked(self.top)
        present = [path for path in sorted(self._written) if (self.top / path).exists()]
        if present:
            run_git(self.top, "--literal-pathspecs", "add", "-f", "--", *present)
        if run_git(self.top, "diff", "--cached", "--quiet", check=False).returncode != 0:
            run_git(self.top, "commit", "-q", "--no-verify", "-m", message)
        self._written.clear()
        return self._head()

    def _rollback(self, commit: str) -> None:
        if run_git(self.top, "merge-base", "--is-ancestor", self.base, commit, check=False).returncode != 0:
            raise WorkspaceError(f"{commit} is not a commit of run {self.run_id}, so nothing was rolled back.")
        self._announce_written()
        run_git(self.top, "reset", "-q", "--hard", commit)
        self._clean("-fdq")
        submodules.write_files(self.top, self._submodules)
        self._written.clear()

    def _clean(self, options: str) -> None:
        run_git(self.top, "clean", options)
        submodules.clean(self.top, self._submodules, options)

    def restore_submodules(self) -> None:
        """Put the files of submodules back to what they were when the run began. Blocking."""
        submodules.write_files(self.top, self._submodules)

    def _drop_leftovers(self) -> None:
        self._announce_written()
        self._clean("-fdxq")

    def _announce_written(self) -> None:
        """Add the files that wait to be committed to git's index without their contents (``add -N``), ignored ones too: git
        then compares, keeps and resets them."""
        new = [path for path in sorted(self._written) if (self.top / path).exists()]
        if new:
            run_git(self.top, "--literal-pathspecs", "add", "-N", "-f", "--", *new)

    def _compare(self, base: str | None, *options: str) -> subprocess.CompletedProcess[bytes]:
        self._announce_written()
        common = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules", "--relative")
        return run_git(self.root, "diff", *common, *options, base or self.base)

    def _diff(self, base: str | None) -> str:
        options = ("--src-prefix=a/", "--dst-prefix=b/", "-U3", "--diff-algorithm=histogram")
        return self._compare(base, *options).stdout.decode("utf-8", "replace")

    def _changed(self, base: str | None) -> list[str]:
        return paths(self._compare(base, "--name-only", "-z"))

    def _keep(self) -> str:
        if self.mode == "copy":
            return f"The changed copy is kept in {self.top}."
        with contextlib.suppress(CheckoutChanged):  # then the commits made so far are what there is
            self._commit("Unfinished: not committed when the run ended")
        place.remove_worktree(self.repo, self.top)
        record.forget(self.repo, self.run_id)
        return f"The work is kept on the branch {self.branch}. See it with: git diff {self.base[:12]} {self.branch}"

    def _discard(self) -> str:
        if self.mode == "copy":
            place.remove_copy(self.repo, self.run_id)
            return f"The copy of run {self.run_id} was removed."
        place.remove_worktree(self.repo, self.top)
        place.delete_branch(self.repo, self.branch)
        record.forget(self.repo, self.run_id)
        return f"The branch {self.branch} was deleted; your files were not touched."


def _create(repo: Path, run_id: str, carry_uncommitted: bool) -> Workspace:
    return Workspace(*place.make(repo, run_id, carry_uncommitted))


def _reopen(repo: Path, run_id: str) -> Workspace:
    space = Workspace(*place.find(repo, run_id))
    space._rollback(space._head())
    return space


def _stage_tracked(top: Path) -> None:
    """Put changed and deleted tracked files into the index.

    Not ``git add -u``: that runs git in each submodule's folder, where code under check may have put a repository whose
    configuration runs programs.
    """
    changed = run_git(top, "diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all").stdout
    if changed:
        run_git(top, "update-index", "--add", "--remove", "-z", "--stdin", input=changed)


def _up(repo: Path, prefix: str) -> Path:
    top = repo
    for _ in Path(prefix).parts:
        top = top.parent
    return top
