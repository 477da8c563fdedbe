"""The files of a node that are a job's own: what lies below its folders, and its inputs. Nothing
else is read, moved or written to for it, whatever its tool, its expressions or its links say.

Paths are walked folder by folder through descriptors, and links by hand, so that what was looked at
is what is opened.
"""

import errno
import os
import re
import stat
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import filter as matching

from cwltool.errors import WorkflowException

from pilot.folders.deletion import delete_tree
from pilot.folders.work_folder import OUT, TMP, OpenFolder
from sluice.storage import MOST_FOLDERS

#: Device and inode.
Identity = tuple[int, int]

_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40
#: Folders between one of the job's and what a tool in it makes.
_ABOVE = 4
#: Characters of a path in a sentence.
_SHOWN = 120
_MAGIC = re.compile(r"[*?[]")
#: How the paths of outputs begin: of the job's tool, and of one inside a workflow.
_OUTPUT = re.compile(f"^({OUT}|{TMP}/o-[^/]+)/")


class NotOwnError(WorkflowException):  # type: ignore[misc] # cwltool's types are not followed
    """The job cannot have ``path``: ``reason``, a sentence. ``left``: the tool has left it so. One
    of cwltool's errors, so that cwltool passes it on."""

    def __init__(self, path: str, reason: str, *, left: bool = False) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason
        self.left = left
        #: The output that names it, once that is known.
        self.port: str | None = None


class _OutsideError(Exception):
    """The way leads to ``path``, out of the job's folders."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class _CircleError(Exception):
    """Links lead to links, perhaps without end."""


class _DeepError(Exception):
    """The way goes through more folders than anybody follows."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A regular file, open for reading. ``given``: no other file of the node is this one, so that
    it may be given away."""

    descriptor: int
    given: bool


class OwnFiles:
    """``folders``: of the job, by all names that they have; the first is the one that it runs in,
    as it knows it. ``inputs``: files elsewhere that it has links to."""

    def __init__(self, folders: Sequence[OpenFolder], inputs: Collection[Identity]) -> None:
        self._folders = folders
        self._inputs = inputs
        self.folder = folders[0].path
        self._real = [
            folder.path for folder in folders if folder.descriptor == folders[0].descriptor
        ][-1]

    def real(self, path: str) -> str:
        """What the job knows by its folder's other name, by its own."""
        return (
            f"{self._real}{path[len(self.folder) :]}"
            if f"{path}/".startswith(f"{self.folder}/")
            else path
        )

    def has(self, path: str) -> bool:
        """Does the path, as it is written, lie in the job's folders?"""
        return any(path.startswith(f"{folder.path}/") for folder in self._folders)

    def require(self, path: str) -> None:
        """Raises ``NotOwnError`` where the job cannot have it; what is not there it can."""
        self.status(path)

    def status(self, path: str) -> os.stat_result | None:
        """None where nothing is there. Raises ``NotOwnError``."""
        try:
            found = self._plain_status(path)
            if found is not None:
                return found
            with self._located(path) as descriptor:
                return os.fstat(descriptor)
        except OSError:
            return None

    def _plain_status(self, path: str) -> os.stat_result | None:
        """Of a file right in one of the folders that a job has, which is what most are: as a walk
        finds it, in fewer steps. None where it takes one."""
        folder, _, name = path.removeprefix(f"{self._real}/").partition("/")
        if folder != OUT or name in ("", ".", "..") or "/" in name or "\0" in name:
            return None
        try:
            place = os.open(OUT, _LOOK | os.O_DIRECTORY, dir_fd=self._folders[0].descriptor)
        except OSError:
            return None
        try:
            found = os.stat(name, dir_fd=place, follow_symlinks=False)
        finally:
            os.close(place)
        return None if stat.S_ISLNK(found.st_mode) else found

    def is_file(self, path: str) -> bool:
        """Raises ``NotOwnError``, also for what is neither a file nor a folder."""
        status = self.status(path)
        if status is not None:
            self._require_plain(path, status.st_mode)
        return status is not None and stat.S_ISREG(status.st_mode)

    def is_folder(self, path: str) -> bool:
        """Raises ``NotOwnError``."""
        status = self.status(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def open(self, path: str) -> int:
        """A regular file or a folder, for reading. Raises ``NotOwnError``, ``OSError``."""
        with self._located(path) as found:
            self._require_plain(path, os.fstat(found).st_mode)
            return _opened(found)

    @contextmanager
    def taken(self, path: str) -> Iterator[OpenFile]:
        """A regular file. Raises ``NotOwnError``, ``OSError``."""
        with self._located(path) as found:
            status = os.fstat(found)
            if not stat.S_ISREG(status.st_mode):
                raise self._special(path, "no file")
            descriptor = _opened(found)
        try:
            given = status.st_nlink == 1 and (status.st_dev, status.st_ino) not in self._inputs
            yield OpenFile(descriptor, given)
        finally:
            os.close(descriptor)

    def names(self, path: str) -> list[str]:
        """Of what a folder holds. Raises ``NotOwnError``, ``OSError``."""
        descriptor = self.open(path)
        try:
            return os.listdir(descriptor)
        finally:
            os.close(descriptor)

    def glob(self, pattern: str) -> list[str]:
        """Paths that match, as ``glob.glob`` finds them. A wildcard passes over links that lead
        elsewhere.

        Raises ``NotOwnError``.
        """
        root = next(
            (one.path for one in self._folders if f"{pattern}/".startswith(f"{one.path}/")), None
        )
        if root is None:
            raise self._refusal(pattern, pattern)
        found = [(root, False)]
        parts = pattern[len(root) + 1 :].split("/")
        for number, part in enumerate(parts, 1):
            found = [
                one
                for place in found
                for one in self._next(*place, part, last=number == len(parts))
            ]
        return [path for path, _ in found]

    def create(self, path: str) -> int:
        """An empty regular file to append to; one that is there is emptied. Raises ``NotOwnError``,
        ``OSError``."""
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
        os.ftruncate(descriptor, 0)
        return descriptor

    def new_folder(self) -> str:
        """Beside the tool's temporary files; nothing is in it. Raises ``NotOwnError``, ``OSError``."""
        place = f"{self.folder}/{TMP}"
        with self._plain_folder(place):
            return tempfile.mkdtemp(dir=place)

    def put_link(self, path: str, target: str | None) -> None:
        """A link to ``target`` in place of what is at ``path``; None: nothing. Where its folder has
        gone, nothing is done. Raises ``NotOwnError``, ``OSError``."""
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

    def shown(self, path: str) -> str:
        """As a person knows it who wrote the tool: seen from the folder that it writes to."""
        for folder in self._folders:
            path = path.removeprefix(f"{folder.path}/")
        return _OUTPUT.sub("", path)

    @contextmanager
    def _located(self, path: str) -> Iterator[int]:
        """Descriptor of what the path names in the end, good for looking only. Raises
        ``NotOwnError``, ``OSError``."""
        if "\0" in path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        try:
            descriptor = _Walk(self._folders).to_end(path)
        except _OutsideError as outside:
            descriptor = self._input(path, outside.path)
        except _CircleError as error:
            raise self._special(path, f"a chain of more than {_MOST_LINKS} links") from error
        except _DeepError as error:
            what = (
                f"more than {MOST_FOLDERS} folders deep: let the tool make a flatter tree, or an"
                " archive of it"
            )
            raise self._special(path, what) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _input(self, path: str, outside: str) -> int:
        """One of the job's inputs, elsewhere."""
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
        """One with no link on the way to it."""
        walk = _Walk(self._folders, links=False)
        try:
            descriptor = walk.to_end(path)
        except (_OutsideError, NotADirectoryError) as error:
            raise NotOwnError(
                path, f"{self.shown(path)!r} is no folder of its own", left=True
            ) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _next(
        self, base: str, chosen: bool, part: str, *, last: bool
    ) -> Iterator[tuple[str, bool]]:
        """What one part of a pattern matches below ``base``. ``chosen``: a wildcard did choose
        that."""
        try:
            if not part:
                found = [base] if not last else [f"{base}/"] if self.is_folder(base) else []
            elif _MAGIC.search(part):
                found, chosen = [f"{base}/{name}" for name in self._matching(base, part)], True
            else:
                found = [f"{base}/{part}"] if not last or self._is_there(f"{base}/{part}") else []
        except NotOwnError:
            if not chosen:
                raise
            return
        yield from ((path, chosen) for path in found)

    def _matching(self, base: str, pattern: str) -> list[str]:
        if not self.is_folder(base):
            return []
        hidden = pattern.startswith(".")
        return matching(
            [name for name in self.names(base) if hidden or not name.startswith(".")], pattern
        )

    def _is_there(self, path: str) -> bool:
        """It, or a link of that name."""
        folder, name = os.path.split(path)
        if name in (".", ".."):
            return self.status(path) is not None
        try:
            with self._located(folder) as descriptor:
                os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            return False
        return True

    def _require_plain(self, path: str, mode: int) -> None:
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise self._special(path, "neither a file nor a folder")

    def _special(self, path: str, what: str) -> NotOwnError:
        shown = self.shown(path)
        return NotOwnError(
            path, f"{shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'!r} is {what}"
        )

    def _refusal(self, path: str, outside: str) -> NotOwnError:
        way = "is" if path == outside else f"leads to {outside!r}, which is"
        return NotOwnError(path, f"{self.shown(path)!r} {way} no file of the job")


class _Walk:
    """From one of the job's folders down; up again no further than to it."""

    def __init__(self, folders: Sequence[OpenFolder], *, links: bool = True) -> None:
        self._folders = folders
        self._follow = links
        self._links = 0
        self._root = folders[0]
        self._passed: list[int] = []
        self._parts: list[str] = []

    def to_end(self, path: str) -> int:
        """Raises ``_OutsideError``, ``_CircleError``, ``OSError``."""
        try:
            self._begin(path)
            while self._parts:
                self._step(self._parts.pop())
            return self._passed.pop() if self._passed else os.dup(self._root.descriptor)
        finally:
            self._leave()

    def _begin(self, path: str) -> None:
        self._leave()
        root = next((one for one in self._folders if f"{path}/".startswith(f"{one.path}/")), None)
        if root is None:
            raise _OutsideError(path)
        self._root = root
        self._parts = path[len(root.path) :].split("/")[::-1]

    def _leave(self) -> None:
        for descriptor in self._passed:
            os.close(descriptor)
        self._passed = []

    def _step(self, part: str) -> None:
        if part in ("", "."):
            return
        if part == "..":
            if not self._passed:
                raise _OutsideError(
                    os.path.normpath("/".join([self._root.path, part, *self._parts[::-1]]))
                )
            left = self._passed.pop()
            is_folder = stat.S_ISDIR(os.fstat(left).st_mode)
            os.close(left)
            if not is_folder:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            return
        place = self._passed[-1] if self._passed else self._root.descriptor
        found = os.open(part, _LOOK, dir_fd=place)
        if not stat.S_ISLNK(os.fstat(found).st_mode):
            self._passed.append(found)
            if len(self._passed) > MOST_FOLDERS + _ABOVE:
                raise _DeepError
            return
        os.close(found)
        self._follow_link(os.readlink(part, dir_fd=place))

    def _follow_link(self, target: str) -> None:
        self._links += 1
        if not self._follow:
            raise _OutsideError(target)
        if self._links > _MOST_LINKS:
            raise _CircleError
        if target.startswith("/"):
            self._begin("/".join([target, *self._parts[::-1]]))
        else:
            self._parts += target.split("/")[::-1]


def _opened(descriptor: int) -> int:
    """What was only looked at so far, for reading."""
    return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
