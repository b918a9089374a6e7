"""The worktree as the rooms that write code see it: confined paths, atomic writes, an index that keeps up."""

from __future__ import annotations

from collections.abc import Callable

from agent.coding.files import FolderFiles
from agent.index import Index
from agent.regular_files import read_regular
from agent.workspace.git import WorkspaceError
from agent.workspace.paths import PathRefused, write_atomically
from agent.workspace.protected import is_hidden
from agent.workspace.worktree import Workspace


class SpoiledFile(WorkspaceError, FileNotFoundError):
    """A file of the run's place is not there, or no file that can be read. ``str()`` is a sentence for the person."""


class _Confined(FolderFiles):
    """Files as a model may name them: what leads out of the run's place is not there."""

    workspace: Workspace

    def read_bytes(self, path: str) -> bytes:
        """The file's content. Raises SpoiledFile, also for a path that is refused."""
        try:
            return read_regular(self.workspace.resolve(path))
        except (PathRefused, OSError) as error:
            raise SpoiledFile(
                f"{path} cannot be read in the run's place ({error}): commands that the run executed may have replaced it. "
                "What was committed before is kept."
            ) from None

    def exists(self, path: str) -> bool:
        """Whether there is such a file inside the run's place."""
        try:
            return self.workspace.resolve(path).is_file()
        except (PathRefused, OSError):  # OSError: a name that the file system does not take
            return False


class WorkTree:
    """One run's files. ``files`` is handed to the coding room; ``touched`` are the paths written since the last look."""

    def __init__(
        self, workspace: Workspace, index: Index, writable: Callable[[str], bool], hidden: tuple[str, ...] = ()
    ) -> None:
        self.workspace = workspace
        self._writable = writable
        self.index = index
        self.hidden = hidden
        self.touched: set[str] = set()
        self.created: set[str] = set()
        self.files = _Confined(workspace.root, write=self._write, remove=self._remove, paths=self._paths)
        self.files.workspace = workspace

    def writable(self, path: str) -> bool:
        """Whether a model may change a file; see :meth:`agent.flow.survey.Survey.writable`."""
        return self._writable(path)

    def catch_up(self) -> None:
        """Bring the index up to date with what was written."""
        touched, self.touched = self.touched, set()
        if touched:
            self.index.refresh_files(sorted(touched))

    def _write(self, path: str, data: bytes) -> None:
        full = self.workspace.resolve_for_writing(path)
        if not full.exists():
            self.created.add(path)
        full.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(full, data)
        self.workspace.note_written(path)
        self.touched.add(path)

    def _remove(self, path: str) -> None:
        self.workspace.resolve(path).unlink(missing_ok=True)
        self.created.discard(path)
        self.touched.add(path)

    def _paths(self) -> list[str]:
        known = {entry.path for entry in self.index.files()} | self.created
        return sorted(path for path in known if not is_hidden(path, self.hidden))
