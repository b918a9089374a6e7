"""Where a run works: a git worktree on a branch of its own, or outside git a copy.

The person's checkout is read, never written: not its files, its index, its stash, nor its branch. Only
:meth:`Workspace.apply_to_user_tree`, called when they accept, writes there (design, sections 2.5 and 11).
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path

from agent.workspace import apply as applying
from agent.workspace import carry, copying, record, textfile
from agent.workspace.git import GitError, WorkspaceError, paths, run_git, text, top_level
from agent.workspace.paths import resolve_inside, write_atomically

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Workspace:
    """The place of one run. Make it with :meth:`create` or :meth:`reopen`.

    ``repo`` is the person's repository (or folder), ``root`` the same place inside the run's copy: all relative paths
    count from there. ``top`` is the top of the checkout that holds ``root``. ``base`` is the commit that the run's
    diff is taken against: the person's HEAD, or the commit that carries their uncommitted changes in. ``notes`` are
    sentences for the person about what is not as expected.
    """

    def __init__(self, repo: Path, entry: record.Record) -> None:
        self.repo = repo
        self.run_id = entry.run
        self.mode = entry.mode
        self.branch = entry.branch
        self.base = entry.base
        self.user_head = entry.user_head
        self.carried = entry.carried
        self.notes = entry.notes
        self.top = repo / record.FOLDER / "work" / entry.run
        self.root = self.top / entry.prefix if entry.prefix else self.top
        self._user_top = _up(repo, entry.prefix)
        self._written: set[str] = set()

    # A run's place is made and found again.

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

    def read(self, path: str) -> str:
        r"""The text of a file, with ``\n`` newlines (a file with mixed newlines as it is).

        Raises:
            WorkspaceError: the path is refused, there is no such file, or it is binary.
        """
        return self.read_file(path).text

    def read_file(self, path: str) -> textfile.TextFile:
        """The text of a file with its encoding and newline style. Raises as :meth:`read`."""
        full = self.resolve(path)
        try:
            return textfile.decode(full.read_bytes())
        except FileNotFoundError:
            raise WorkspaceError(f"There is no file {path} in the repository.") from None
        except IsADirectoryError:
            raise WorkspaceError(f"{path} is a folder, not a file.") from None
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be read: {error.strerror}.") from error
        except ValueError:
            raise WorkspaceError(f"{path} is a binary file, so it is not edited as text.") from None

    def write(self, path: str, text: str) -> Path:
        r"""Write ``text`` (``\n`` newlines) whole, in the mode, encoding and newline style the file has; returns its path.

        Files that are new are remembered, so that :meth:`commit` takes them in.

        Raises:
            WorkspaceError: the path is refused or cannot be written; the file is then unchanged.
        """
        style = self.read_file(path) if self.resolve(path).is_file() else textfile.TextFile("")
        return self.write_bytes(path, style.encode(text))

    def write_bytes(self, path: str, data: bytes) -> Path:
        """As :meth:`write`, for contents that are encoded already; an existing file keeps its mode."""
        full = self.resolve(path)
        if full.is_dir():
            raise WorkspaceError(f"{path} is a folder, so no file can be written there.")
        write_atomically(full, data)
        self.note_written(path)
        return full

    def note_written(self, path: str) -> None:
        """Say that a file was made by other means than :meth:`write` and belongs to the change."""
        full = self.resolve(path)
        self._written.add(full.relative_to(self.top.resolve()).as_posix())

    # History of the run.

    async def commit(self, message: str) -> str:
        """Commit changed tracked files and new files that were written through here; what builds and tests left is not.

        Returns the new commit, or the present one when nothing changed.
        """
        return await asyncio.to_thread(self._commit, message)

    async def head(self) -> str:
        """The commit the run's branch is at."""
        return await asyncio.to_thread(self._head)

    async def rollback(self, commit: str) -> None:
        """Put branch and files back to ``commit``; untracked files that are not ignored go.

        Raises:
            WorkspaceError: it is no commit of this run.
        """
        await asyncio.to_thread(self._rollback, commit)

    async def diff(self, base: str | None = None) -> str:
        """The unified diff from ``base`` (default: the run's) to the files as they are now, new ones included."""
        return await asyncio.to_thread(self._diff, base)

    async def changed_files(self, base: str | None = None) -> list[str]:
        """Paths, relative to ``root``, that differ from ``base`` (default: the run's)."""
        return await asyncio.to_thread(self._changed, base)

    # What becomes of it.

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
        run_git(self.top, "add", "-u", "--", ":/")
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
        run_git(self.top, "reset", "-q", "--hard", commit)
        run_git(self.top, "clean", "-fdq")
        self._written.clear()

    def _compare(self, base: str | None, *options: str) -> bytes:
        new = [path for path in sorted(self._written) if (self.top / path).exists()]
        if new:
            run_git(self.top, "--literal-pathspecs", "add", "-N", "-f", "--", *new)
        common = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules", "--relative")
        return run_git(self.root, "diff", *common, *options, base or self.base).stdout

    def _diff(self, base: str | None) -> str:
        options = ("--src-prefix=a/", "--dst-prefix=b/", "-U3", "--diff-algorithm=histogram")
        return self._compare(base, *options).decode("utf-8", "replace")

    def _changed(self, base: str | None) -> list[str]:
        return [os.fsdecode(part) for part in self._compare(base, "--name-only", "-z").split(b"\0") if part]

    def _keep(self) -> str:
        if self.mode == "copy":
            return f"The changed copy is kept in {self.top}."
        if self.top.exists():
            self._commit("Unfinished: not committed when the run ended")
        self._remove_worktree()
        record.forget(self.repo, self.run_id)
        return f"The work is kept on the branch {self.branch}. See it with: git diff {self.base[:12]} {self.branch}"

    def _discard(self) -> str:
        if self.mode == "copy":
            shutil.rmtree(self.top, ignore_errors=True)
            record.forget(self.repo, self.run_id)
            return f"The copy of run {self.run_id} was removed."
        self._remove_worktree()
        branch = f"refs/heads/{self.branch}"
        run_git(self.repo, "update-ref", "-d", branch, check=False)
        if run_git(self.repo, "rev-parse", "-q", "--verify", branch, check=False).returncode == 0:
            raise WorkspaceError(f"The branch {self.branch} could not be deleted. Try: git branch -D {self.branch}")
        record.forget(self.repo, self.run_id)
        return f"The branch {self.branch} was deleted; your files were not touched."

    def _remove_worktree(self) -> None:
        run_git(self.repo, "worktree", "remove", "--force", "--force", str(self.top), check=False)
        if self.top.exists():
            shutil.rmtree(self.top, ignore_errors=True)
            run_git(self.repo, "worktree", "prune", check=False)


def unfinished_runs(repo: Path) -> list[str]:
    """Ids of runs of ``repo`` that can be reopened, oldest first."""
    return record.recorded(Path(repo))


def _up(repo: Path, prefix: str) -> Path:
    top = repo
    for _ in Path(prefix).parts:
        top = top.parent
    return top


def _checked_repo(repo: Path) -> Path:
    if not repo.exists():
        raise WorkspaceError(f"There is no folder {repo}. Give the path of the repository to work on.")
    if not repo.is_dir():
        raise WorkspaceError(f"{repo} is a file. Give the path of the repository to work on.")
    return repo.resolve()


def _create(given: Path, run_id: str, carry_uncommitted: bool) -> Workspace:
    repo = _checked_repo(given)
    if not _RUN_ID.fullmatch(run_id) or run_id.endswith((".lock", ".")) or ".." in run_id:
        raise WorkspaceError(f"{run_id!r} cannot name a run. Use letters, digits, dots, dashes and underscores.")
    top = _holding(repo)
    work = record.work_folder(repo)
    if (work / run_id).exists() or (work / f"{run_id}.json").exists():
        raise WorkspaceError(f"The run id {run_id} is in use in {work}. Reopen that run, or choose another id.")
    applying.recover(repo)
    entry = _copied(repo, work, run_id) if top is None else _branched(repo, top, work, run_id, carry_uncommitted)
    return Workspace(repo, entry)


def _holding(repo: Path) -> Path | None:
    """The top of the work tree that ``repo`` belongs to; a folder that an outer repository does not track is none of it."""
    top = top_level(repo)
    if top is None or top == repo:
        return top
    return top if run_git(repo, "ls-files", "-z", "--", ".").stdout else None


def _copied(repo: Path, work: Path, run_id: str) -> record.Record:
    branch = f"cra/{run_id}"
    notes = [f"{repo} is not a git repository, so the run works on a copy of it."]
    notes += copying.copy_tree(repo, work / run_id)
    try:
        base = copying.start_history(work / run_id, branch)
        entry = record.Record(run_id, "copy", branch, base, notes=tuple(notes))
        record.save(repo, entry)
    except BaseException:
        shutil.rmtree(work / run_id, ignore_errors=True)
        raise
    return entry


def _branched(repo: Path, top: Path, work: Path, run_id: str, carry_uncommitted: bool) -> record.Record:
    branch = f"cra/{run_id}"
    if run_git(top, "rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False).returncode == 0:
        raise WorkspaceError(
            f"The branch {branch} is there already. Choose another run id, or delete it: git branch -D {branch}"
        )
    head = run_git(top, "rev-parse", "-q", "--verify", "HEAD^{commit}", check=False)
    user_head = text(head) if head.returncode == 0 else ""
    notes = list(_about(top, user_head, carry_uncommitted))
    taken = carry.snapshot(top, work, carry_uncommitted)
    notes += taken.notes
    base, carried = user_head, False
    if not user_head or taken.tree != text(run_git(top, "rev-parse", f"{user_head}^{{tree}}")):
        parent = ["-p", user_head] if user_head else []
        base = text(run_git(top, "commit-tree", taken.tree, *parent, "-m", "Carried in: changes that were not committed"))
        carried = carry_uncommitted
    entry = record.Record(run_id, "worktree", branch, base, user_head, _prefix(repo, top), carried, tuple(notes))
    record.save(repo, entry)
    try:
        _add_worktree(top, work / run_id, entry)
    except BaseException:
        Workspace(repo, entry)._discard()
        raise
    return entry


def _prefix(repo: Path, top: Path) -> str:
    relative = repo.relative_to(top).as_posix()
    return "" if relative == "." else relative


def _about(top: Path, user_head: str, carry_uncommitted: bool) -> list[str]:
    notes = []
    if not user_head:
        notes.append("The repository has no commit yet, so the run starts from the files as they are.")
    elif not carry_uncommitted and text(run_git(top, "status", "--porcelain", "--ignore-submodules")):
        notes.append(f"The run starts from the last commit ({user_head[:12]}), without the changes not yet committed.")
    if inner := carry.submodules(top):
        notes.append(f"Submodules are not included in the run: {', '.join(inner[:5])}.")
    return notes


def _add_worktree(top: Path, place: Path, entry: record.Record) -> None:
    try:
        run_git(top, "update-ref", f"refs/heads/{entry.branch}", entry.base, "0" * len(entry.base))
    except GitError as error:
        raise WorkspaceError(
            f"The branch {entry.branch} could not be made: {error.stderr or error}. "
            "If there is a branch named 'cra', rename it."
        ) from error
    run_git(top, "worktree", "add", "-q", "-f", str(place), entry.branch)
    if not (place / entry.prefix).is_dir():  # a folder without a single file in git
        (place / entry.prefix).mkdir(parents=True)


def _reopen(given: Path, run_id: str) -> Workspace:
    repo = _checked_repo(given)
    entry = record.load(repo, run_id)
    applying.recover(repo)
    space = Workspace(repo, entry)
    if entry.mode == "copy":
        if not (space.top / ".git").is_dir():
            raise WorkspaceError(f"The copy of run {run_id} in {space.top} is gone or incomplete. Start the task again.")
    elif not _is_checkout(space.top):
        branch = f"refs/heads/{entry.branch}"
        shutil.rmtree(space.top, ignore_errors=True)
        if run_git(repo, "rev-parse", "-q", "--verify", branch, check=False).returncode == 0:
            run_git(repo, "worktree", "add", "-q", "-f", "-f", str(space.top), entry.branch)
        elif run_git(repo, "cat-file", "-e", f"{entry.base}^{{commit}}", check=False).returncode == 0:
            _add_worktree(repo, space.top, entry)
        else:
            raise WorkspaceError(f"The branch {entry.branch} of run {run_id} is gone. Start the task again.")
    _drop_locks(space.top)
    space._rollback(space._head())
    return space


def _is_checkout(place: Path) -> bool:
    if not (place / ".git").exists():
        return False
    result = run_git(place, "rev-parse", "--show-toplevel", "HEAD", check=False)
    return result.returncode == 0 and Path(text(result).splitlines()[0]).resolve() == place.resolve()


def _drop_locks(top: Path) -> None:
    """A killed git leaves its lock; nobody else works in a run's own place, so it can go."""
    for name in ("index.lock", "HEAD.lock"):
        for path in paths(run_git(top, "rev-parse", "--git-path", name)):
            (top / path.strip()).unlink(missing_ok=True)
