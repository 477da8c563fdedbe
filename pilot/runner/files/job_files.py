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
    find_folder,
    resolve_in_one_call,
)
from pilot.runner.files.search_cost import SearchCost
from sluice.cwl_values import MAX_FOLDERS
from sluice.text.visible_text import quoted

#: Device and inode.
Identity = tuple[int, int]

#: Starts of output paths: of the job's tool, and of a tool inside a workflow.
_OUTPUT = re.compile(f"^({OUT}|{TMP}/o-[^/]+)/")


class ForeignFileError(WorkflowException):  # type: ignore[misc] # cwltool's types are not followed
    """The job may not have ``path``.

    ``reason`` is a sentence. ``left_by_tool`` says that the tool has left the file in this state.
    The class derives from an error of cwltool, so that cwltool passes it on.
    """

    def __init__(self, path: str, reason: str, *, left_by_tool: bool = False) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason
        self.left_by_tool = left_by_tool
        #: The output that names the path, once it is known.
        self.port: str | None = None


@dataclass(frozen=True, slots=True)
class OpenJobFile:
    """A regular file, open for reading.

    Attributes:
        is_movable: Whether the file has no other name and no other user, so it may be moved.
    """

    descriptor: int
    is_movable: bool


class JobFiles:
    """Files of a job.

    ``folders`` are the job's folders under all their names. The first is the job's folder as the
    job knows it. ``inputs`` are linked files elsewhere. ``cost`` adds up all searches.
    ``are_shared`` says that a process may hold the files after the end of the job.
    """

    def __init__(self, folders: Sequence[OpenFolder], inputs: Collection[Identity]) -> None:
        self._folders = folders
        self._inputs = inputs
        self.cost = SearchCost()
        self.are_shared = False
        self.folder = folders[0].path
        #: Results by path, once nothing changes them.
        self._statuses: dict[str, os.stat_result | None] | None = None
        self._real = [
            folder.path for folder in folders if folder.descriptor == folders[0].descriptor
        ][-1]

    def real_path(self, path: str) -> str:
        """Return a path under the job's folder with the folder's real name."""
        return (
            f"{self._real}{path[len(self.folder) :]}"
            if f"{path}/".startswith(f"{self.folder}/")
            else path
        )

    def contains(self, path: str) -> bool:
        """Return whether the path, as it is written, is in the job's folders."""
        return any(path.startswith(f"{folder.path}/") for folder in self._folders)

    def cache_status(self) -> None:
        """Cache the status of files from now on.

        From then on, the files may be changed only by these methods. Opening a file always resolves
        its path again.
        """
        self._statuses = {}

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
        if self._statuses is None:
            return self._status(path)
        if path not in self._statuses:
            self._statuses[path] = self._status(path)
        return self._statuses[path]

    def _status(self, path: str) -> os.stat_result | None:
        try:
            descriptor = self._resolve(path)
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
        with self._locate(path) as location:
            self._require_plain(path, os.fstat(location).st_mode)
            return _reopen(location)

    @contextmanager
    def open_output(self, path: str) -> Iterator[OpenJobFile]:
        """Open a regular file as an output.

        Raises:
            ForeignFileError: The job may not have it, or it is not a regular file.
            OSError: It could not be opened.
        """
        with self._locate(path) as location:
            status = os.fstat(location)
            if not stat.S_ISREG(status.st_mode):
                raise self._kind_error(path, "not a file")
            descriptor = _reopen(location)
        try:
            is_other = status.st_nlink > 1 or (status.st_dev, status.st_ino) in self._inputs
            is_movable = not (self.are_shared or is_other) and _take_ownership(descriptor, status)
            yield OpenJobFile(descriptor, is_movable)
        finally:
            os.close(descriptor)

    def list_names(self, path: str) -> list[str]:
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

    def require_folder(self, path: str) -> str:
        """Return the job's folder that contains ``path``, as it is written.

        Raises:
            ForeignFileError: None of them contains it.
        """
        folder = find_folder(path, self._folders)
        if folder is None:
            raise self._foreign_error(path, path)
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
            with self._locate(folder) as descriptor:
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
        self._clear_cache()
        with self._locate(os.path.dirname(path)) as folder:
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
                raise self._kind_error(path, "not a regular file") from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(descriptor)
            raise self._kind_error(path, "not a regular file")
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
        with self._open_plain_folder(place):
            return tempfile.mkdtemp(dir=place)

    def put_link(self, path: str, target: str | None) -> None:
        """Replace what is at ``path`` by a link to ``target``, or remove it if ``target`` is None.

        Nothing is done if the parent folder does not exist.

        Raises:
            ForeignFileError: The parent folder is not the job's.
            OSError: The link could not be created.
        """
        self._clear_cache()
        name = os.path.basename(path)
        with suppress(FileNotFoundError), self._open_plain_folder(os.path.dirname(path)) as folder:
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

    def quote_path(self, path: str) -> str:
        """Quote a path as the author of the tool knows it, relative to its output folder."""
        for folder in self._folders:
            path = path.removeprefix(f"{folder.path}/")
        return quoted(_OUTPUT.sub("", path))

    def _clear_cache(self) -> None:
        if self._statuses is not None:
            self._statuses.clear()

    @contextmanager
    def _locate(self, path: str) -> Iterator[int]:
        """Yield the descriptor of ``_resolve`` and close it."""
        descriptor = self._resolve(path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _resolve(self, path: str) -> int:
        """Return an ``O_PATH`` descriptor of a file after all links are followed.

        Raises:
            ForeignFileError: The job may not have it.
            OSError: It does not exist or cannot be reached.
        """
        if "\0" in path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        walk = PathWalk(self._folders)
        try:
            descriptor = resolve_in_one_call(path, self._folders)
            return walk.resolve(path) if descriptor is None else descriptor
        except OutsideFoldersError as outside:
            return self._open_input(path, outside.path)
        except LinkCycleError as error:
            raise self._kind_error(path, f"a chain of more than {MAX_LINKS} links") from error
        except PathDepthError as error:
            reason = (
                f"more than {MAX_FOLDERS} folders deep: let the tool make a flatter tree, or an"
                " archive of it"
            )
            raise self._kind_error(path, reason) from error
        finally:
            self.cost.steps += 1 + walk.steps

    def _open_input(self, path: str, outside: str) -> int:
        """Return an ``O_PATH`` descriptor of an input outside the job's folders."""
        try:
            descriptor = os.open(outside, os.O_PATH | os.O_CLOEXEC)
        except OSError as error:
            raise self._foreign_error(path, outside) from error
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) in self._inputs:
            return descriptor
        os.close(descriptor)
        raise self._foreign_error(path, outside)

    @contextmanager
    def _open_plain_folder(self, path: str) -> Iterator[int]:
        """Yield an ``O_PATH`` descriptor of a folder whose path has no links."""
        walk = PathWalk(self._folders, links=False)
        try:
            descriptor = walk.resolve(path)
        except (OutsideFoldersError, NotADirectoryError) as error:
            reason = f"{self.quote_path(path)} is not a folder of the job"
            raise ForeignFileError(path, reason, left_by_tool=True) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _require_plain(self, path: str, mode: int) -> None:
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise self._kind_error(path, "neither a file nor a folder")

    def _kind_error(self, path: str, reason: str) -> ForeignFileError:
        return ForeignFileError(path, f"{self.quote_path(path)} is {reason}")

    def _foreign_error(self, path: str, outside: str) -> ForeignFileError:
        relation = "is" if path == outside else f"leads to {quoted(outside)}, which is"
        return ForeignFileError(path, f"{self.quote_path(path)} {relation} not a file of the job")


def _take_ownership(descriptor: int, status: os.stat_result) -> bool:
    """Make this process's user the owner and only writer of a file, and return whether it is."""
    if status.st_uid == os.geteuid():
        return True
    with suppress(OSError):
        os.fchown(descriptor, os.geteuid(), os.getegid())
        os.fchmod(descriptor, status.st_mode & ~(stat.S_IWGRP | stat.S_IWOTH) & 0o777)
        return True
    return False


def _reopen(descriptor: int) -> int:
    """Open the file of an ``O_PATH`` descriptor for reading."""
    return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
