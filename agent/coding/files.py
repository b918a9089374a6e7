"""The few things that writing code needs of a file tree, and a plain folder that does them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from agent.atomic import replace_file
from agent.languages import is_code
from agent.walking import files_below


class Files(Protocol):
    """Project files by their path from the root, ``/`` between folders. A workspace is one."""

    def read_bytes(self, path: str) -> bytes:
        """The file's content. Raises FileNotFoundError, or what the tree refuses a path with."""
        ...

    def write_bytes(self, path: str, data: bytes) -> object:
        """Write whole, folders made as needed, the file's mode kept."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        ...

    def remove(self, path: str) -> object:
        """Delete a file that this run made."""
        ...

    def list(self) -> list[str]:
        """The paths of the project's C and Python files."""
        ...


def content(files: Files, path: str) -> bytes | None:
    """A file's content, None when there is no such file."""
    return files.read_bytes(path) if files.exists(path) else None


def put_back(files: Files, contents: Mapping[str, bytes | None]) -> None:
    """Make files as they were in ``contents``; one that was not there (None) goes. What is as it was is not written."""
    for path, data in contents.items():
        if data is None:
            if files.exists(path):
                files.remove(path)
        elif content(files, path) != data:
            files.write_bytes(path, data)


class FolderFiles:
    """Files below ``root``. ``write`` and ``remove`` do what their names say where somebody else keeps account of it (a
    workspace); ``paths`` lists the files where somebody else knows them (an index)."""

    def __init__(
        self,
        root: Path,
        *,
        write: Callable[[str, bytes], object] | None = None,
        remove: Callable[[str], object] | None = None,
        paths: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        self.root = root
        self._write = write
        self._remove = remove
        self._paths = paths

    def read_bytes(self, path: str) -> bytes:
        """The file's content. Raises FileNotFoundError."""
        return (self.root / path).read_bytes()

    def write_bytes(self, path: str, data: bytes) -> object:
        """Write beside and move into place, so that a broken-off write leaves the old content."""
        if self._write is not None:
            return self._write(path, data)
        target = self.root / path
        replace_file(target, data)
        return target

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return (self.root / path).is_file()

    def remove(self, path: str) -> object:
        """Delete a file that this run made."""
        if self._remove is not None:
            return self._remove(path)
        (self.root / path).unlink(missing_ok=True)
        return None

    def list(self) -> list[str]:
        """The C and Python files below the root, hidden folders left out."""
        if self._paths is not None:
            return sorted(set(self._paths()))
        found = (one.relative_to(self.root) for one in files_below(self.root) if is_code(one.name))
        return sorted(str(one) for one in found if not any(part.startswith(".") for part in one.parts))


class LazyFiles(Mapping[str, bytes]):
    """A tree's files as a mapping of path to content, read when asked for and then held: one consistent look at them."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._paths = dict.fromkeys(files.list())
        self._read: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self._read:
            if path not in self._paths and not self._files.exists(path):
                raise KeyError(path)
            try:
                self._read[path] = self._files.read_bytes(path)
            except OSError:
                self._read[path] = b""
        return self._read[path]

    def __contains__(self, path: object) -> bool:
        return path in self._paths or path in self._read

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)
