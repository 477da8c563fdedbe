"""Files that belong to a job: those below its folders, and its inputs.

No other file is read, moved or written for the job, whatever its tool, expressions or links say.
"""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from cwltool.errors import WorkflowException

from pilot.folders.deletion import delete_tree
from pilot.folders.work_folder import OUT, TMP, OpenFolder
from pilot.runner.files.path_walk import (
    MAX_LINKS,
    LinkCycleError,
    OutsideFoldersError,
    PathDepthError,
    PathWalk,
    folder_of,
    straight_to_end,
)
from pilot.runner.files.search_cost import SearchCost
from sluice.storage import MAX_FOLDERS
from sluice.text.visible_text import quoted

#: Device and inode.
Identity = tuple[int, int]

#: Starts of output paths: of the job's tool, and of a tool inside a workflow.
_OUTPUT = re.compile(f"^({OUT}|{TMP}/o-[^/]+)/")


class ForeignFileError(WorkflowException):  # type: ignore[misc] # cwltool's types are not followed
    """The job may not have ``path``.

    ``reason`` is a sentence. ``left`` says that the tool has left the file in this state. It
    derives from an error of cwltool, so that cwltool passes it on.
    """

    def __init__(self, path: str, reason: str, *, left: bool = False) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason
        self.left = left
        #: The output that names the path, once it is known.
        self.port: str | None = None


@dataclass(frozen=True, slots=True)
class OpenJobFile:
    """A regular file, open for reading.

    ``given`` says that the file has no other name and no other user, so it may be moved.
    """

    descriptor: int
    given: bool


class JobFiles:
    """Files of a job.

    ``folders`` are the job's folders under all their names; the first is the job's working place as
    it knows it. ``inputs`` are files elsewhere that it has links to. ``cost`` adds up all searches.
    ``are_shared`` says that a process may hold the files after the end of the job.
    """

    def __init__(self, folders: Sequence[OpenFolder], inputs: Collection[Identity]) -> None:
        self._folders = folders
        self._inputs = inputs
        self.cost = SearchCost()
        self.are_shared = False
        self.folder = folders[0].path
        #: Results by path, once nothing changes any more.
        self._seen: dict[str, os.stat_result | None] | None = None
        self._real = [
            folder.path for folder in folders if folder.descriptor == folders[0].descriptor
        ][-1]

    def real(self, path: str) -> str:
        """Return a path under the job's folder with the folder's real name."""
        return (
            f"{self._real}{path[len(self.folder) :]}"
            if f"{path}/".startswith(f"{self.folder}/")
            else path
        )

    def has(self, path: str) -> bool:
        """Return whether the path, as it is written, lies in the job's folders."""
        return any(path.startswith(f"{folder.path}/") for folder in self._folders)

    def settle(self) -> None:
        """Cache the status of files from now on.

        Nobody may change the files any more except by these methods. Opening a file always resolves
        its path again.
        """
        self._seen = {}

    def require(self, path: str) -> None:
        """Check that the job may have a path. A missing file is allowed.

        Raises:
            ForeignFileError: The job may not have it.
        """
        self.status(path)

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of a file, or None if it does not exist.

        Raises:
            ForeignFileError: The job may not have it.
        """
        if self._seen is None:
            return self._status(path)
        if path not in self._seen:
            self._seen[path] = self._status(path)
        return self._seen[path]

    def _status(self, path: str) -> os.stat_result | None:
        try:
            descriptor = self._look(path)
        except OSError:
            return None
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def is_file(self, path: str) -> bool:
        """Return whether a path is a regular file.

        Raises:
            ForeignFileError: The job may not have it, or it is neither a file nor a folder.
        """
        status = self.status(path)
        if status is not None:
            self._require_plain(path, status.st_mode)
        return status is not None and stat.S_ISREG(status.st_mode)

    def is_folder(self, path: str) -> bool:
        """Return whether a path is a folder.

        Raises:
            ForeignFileError: The job may not have it.
        """
        status = self.status(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def open(self, path: str) -> int:
        """Open a regular file or a folder for reading.

        Raises:
            ForeignFileError: The job may not have it.
            OSError: It could not be opened.
        """
        with self._located(path) as found:
            self._require_plain(path, os.fstat(found).st_mode)
            return _opened(found)

    @contextmanager
    def taken(self, path: str) -> Iterator[OpenJobFile]:
        """Open a regular file as an output.

        Raises:
            ForeignFileError: The job may not have it, or it is not a regular file.
            OSError: It could not be opened.
        """
        with self._located(path) as found:
            status = os.fstat(found)
            if not stat.S_ISREG(status.st_mode):
                raise self._special(path, "no file")
            descriptor = _opened(found)
        try:
            is_other = status.st_nlink > 1 or (status.st_dev, status.st_ino) in self._inputs
            given = not (self.are_shared or is_other) and _is_ours(descriptor, status)
            yield OpenJobFile(descriptor, given)
        finally:
            os.close(descriptor)

    def names(self, path: str) -> list[str]:
        """Return the names in a folder.

        Raises:
            ForeignFileError: The job may not have it.
            OSError: It could not be read.
        """
        descriptor = self.open(path)
        try:
            names = os.listdir(descriptor)
            self.cost.steps += len(names)
            return names
        finally:
            os.close(descriptor)

    def folder_with(self, path: str) -> str:
        """Return the job's folder in which ``path``, as it is written, lies.

        Raises:
            ForeignFileError: It lies in none.
        """
        folder = folder_of(path, self._folders)
        if folder is None:
            raise self._refusal(path, path)
        return folder.path

    def has_entry(self, path: str) -> bool:
        """Return whether a path or a link of that name exists.

        Raises:
            ForeignFileError: The job may not have it.
        """
        folder, name = os.path.split(path)
        if name in (".", ".."):
            return self.status(path) is not None
        with suppress(ForeignFileError):
            if self.status(path) is not None:
                return True
        try:
            with self._located(folder) as descriptor:
                os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return False
        return True

    def create(self, path: str) -> int:
        """Create or empty a regular file and return a descriptor to append to it.

        Raises:
            ForeignFileError: The job may not have it, or something else has that name.
            OSError: It could not be created.
        """
        self._forget()
        with self._located(os.path.dirname(path)) as folder:
            flags = (
                os.O_WRONLY
                | os.O_CREAT
                | os.O_APPEND
                | os.O_NOFOLLOW
                | os.O_NONBLOCK
                | os.O_CLOEXEC
            )
            try:
                descriptor = os.open(os.path.basename(path), flags, 0o600, dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENXIO):
                    raise
                raise self._special(
                    path, "no file of its own, but something else of that name"
                ) from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(descriptor)
            raise self._special(path, "no file of its own, but something else of that name")
        if status.st_size:
            os.ftruncate(descriptor, 0)
        return descriptor

    def new_folder(self) -> str:
        """Create an empty folder in the folder for temporary files.

        Raises:
            ForeignFileError: The folder for temporary files is not the job's.
            OSError: The folder could not be created.
        """
        place = f"{self.folder}/{TMP}"
        with self._plain_folder(place):
            return tempfile.mkdtemp(dir=place)

    def put_link(self, path: str, target: str | None) -> None:
        """Replace what is at ``path`` by a link to ``target``, or remove it if ``target`` is None.

        Nothing is done if the parent folder does not exist.

        Raises:
            ForeignFileError: The parent folder is not the job's.
            OSError: The link could not be created.
        """
        self._forget()
        name = os.path.basename(path)
        with suppress(FileNotFoundError), self._plain_folder(os.path.dirname(path)) as folder:
            with suppress(FileNotFoundError, PermissionError):
                if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=folder)
                elif target is not None:
                    delete_tree(f"/proc/self/fd/{folder}/{name}")
            if target is not None:
                with suppress(FileExistsError):
                    os.symlink(target, name, dir_fd=folder)

    def remove(self, path: str) -> None:
        """Remove a file or a link if it exists and can be removed."""
        with suppress(ForeignFileError, OSError):
            self.put_link(path, None)

    def shown(self, path: str) -> str:
        """Return a path as the author of the tool knows it, relative to its output folder."""
        for folder in self._folders:
            path = path.removeprefix(f"{folder.path}/")
        return _OUTPUT.sub("", path)

    def _forget(self) -> None:
        if self._seen is not None:
            self._seen.clear()

    @contextmanager
    def _located(self, path: str) -> Iterator[int]:
        """Yield the descriptor of ``_look`` and close it."""
        descriptor = self._look(path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _look(self, path: str) -> int:
        """Return an ``O_PATH`` descriptor of a file after all links are followed.

        Raises:
            ForeignFileError: The job may not have it.
            OSError: It does not exist or cannot be reached.
        """
        if "\0" in path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        walk = PathWalk(self._folders)
        try:
            found = straight_to_end(path, self._folders)
            return walk.to_end(path) if found is None else found
        except OutsideFoldersError as outside:
            return self._input(path, outside.path)
        except LinkCycleError as error:
            raise self._special(path, f"a chain of more than {MAX_LINKS} links") from error
        except PathDepthError as error:
            reason = (
                f"more than {MAX_FOLDERS} folders deep: let the tool make a flatter tree, or an"
                " archive of it"
            )
            raise self._special(path, reason) from error
        finally:
            self.cost.steps += 1 + walk.steps

    def _input(self, path: str, outside: str) -> int:
        """Return an ``O_PATH`` descriptor of an input outside the job's folders."""
        try:
            descriptor = os.open(outside, os.O_PATH | os.O_CLOEXEC)
        except OSError as error:
            raise self._refusal(path, outside) from error
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) in self._inputs:
            return descriptor
        os.close(descriptor)
        raise self._refusal(path, outside)

    @contextmanager
    def _plain_folder(self, path: str) -> Iterator[int]:
        """Yield an ``O_PATH`` descriptor of a folder whose path has no links."""
        walk = PathWalk(self._folders, links=False)
        try:
            descriptor = walk.to_end(path)
        except (OutsideFoldersError, NotADirectoryError) as error:
            raise ForeignFileError(
                path, f"{quoted(self.shown(path))} is no folder of its own", left=True
            ) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _require_plain(self, path: str, mode: int) -> None:
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise self._special(path, "neither a file nor a folder")

    def _special(self, path: str, reason: str) -> ForeignFileError:
        return ForeignFileError(path, f"{quoted(self.shown(path))} is {reason}")

    def _refusal(self, path: str, outside: str) -> ForeignFileError:
        way = "is" if path == outside else f"leads to {quoted(outside)}, which is"
        return ForeignFileError(path, f"{quoted(self.shown(path))} {way} no file of the job")


def _is_ours(descriptor: int, found: os.stat_result) -> bool:
    """Make this process's user the owner and only writer of a file, and return whether it is."""
    if found.st_uid == os.geteuid():
        return True
    with suppress(OSError):
        os.fchown(descriptor, os.geteuid(), os.getegid())
        os.fchmod(descriptor, found.st_mode & ~(stat.S_IWGRP | stat.S_IWOTH) & 0o777)
        return True
    return False


def _opened(descriptor: int) -> int:
    """Open the file of an ``O_PATH`` descriptor for reading."""
    return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
