"""Files on local (or mounted) storages: plain system calls, because thousands of small files a
second pass through here."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from io import FileIO
from stat import S_IMODE, S_ISLNK, S_ISREG

from sluice.storage.checksums import (
    ANY,
    Content,
    require_same,
    require_size,
    stream,
)
from sluice.storage.copying import copy_hashed, write_all
from sluice.storage.entries import Entry, Stored, temporary_name
from sluice.storage.errors import (
    BehindLink,
    FileMissing,
    NoFile,
    OutsideStorage,
    os_errors_at,
)
from sluice.storage.places import local_url


def open_regular(url: str, path: str) -> FileIO:
    """Open a regular file for reading.

    Raises:
        NoFile: Something else lies there, or is linked to: a pipe would be waited for, and a device
            may have no end.
        OSError: The file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoFile(url, "this is no regular file")
    return FileIO(descriptor, "rb")


def link(url: str, path: str, *, to: str) -> None:
    """A link at ``to``, replacing what stood there: a hard one where that can be (it costs no new
    inode), else a symbolic one."""
    with os_errors_at(url):
        if not os.path.isfile(path):
            raise FileMissing(url)
        if os.path.lexists(to):
            os.unlink(to)
        try:
            if not os.path.islink(path):
                os.link(path, to)
                return
        except OSError:  # another file system, somebody else's file, too many links
            pass
        os.symlink(path, to)


def size_of(url: str, path: str) -> int:
    with os_errors_at(url):
        return os.stat(path).st_size


def bring(url: str, path: str, *, to: str, expected: Content, reuse: bool = False) -> None:
    """A copy at ``to``, verified while it is written, replacing what stood there. ``reuse``: by
    writing over it."""
    with os_errors_at(url):
        if not reuse and os.path.lexists(to):
            os.unlink(to)
        try:
            with (
                open_regular(url, path) as reader,
                open(to, "r+b" if reuse else "xb", buffering=0) as writer,
            ):
                require_size(url, expected=expected.size, found=os.fstat(reader.fileno()).st_size)
                found = copy_hashed(reader.fileno(), writer.fileno())
                # Not before: ext4 writes a file that was made empty to the disk as soon as it is
                # closed.
                if reuse:
                    writer.truncate()
                _keep_executable(reader, writer)
            require_same(url, expected=expected, found=found)
        except BaseException:
            _forget(to)
            raise


def verify(
    url: str,
    path: str,
    *,
    checksum: str | None,
    size: int | None,
    check: Callable[[], None] | None = None,
) -> None:
    """Raises ``ChecksumMismatch`` unless the file has this size and checksum; None: not compared.
    ``check``: see ``going_on``."""
    with os_errors_at(url), open_regular(url, path) as file:
        require_size(url, expected=size, found=os.fstat(file.fileno()).st_size)
        if checksum is not None:
            found = copy_hashed(file.fileno(), None, check=check)
            require_same(url, expected=Content(checksum), found=found)


def take(file: int, url: str, *, target: str) -> Stored | None:
    """Gives an open regular file its place as a further name; None where that takes a copy (another
    file system, a file that has further names already, or belongs to somebody else, a place that is
    taken)."""
    with os_errors_at(url):
        found = os.fstat(file)
        if found.st_nlink != 1 or _device_for(target) != found.st_dev:
            return None
        stored = copy_hashed(file, None)
        return stored if link_open(file, target) else None


def link_open(file: int, target: str) -> bool:
    """A further name for an open file, whatever its own names lead to by now. False: it cannot be
    had."""
    try:
        # Without a folder, Python makes a link to the link.
        os.link(open_file_path(file), target, src_dir_fd=file, follow_symlinks=True)
    except OSError:
        return False
    return True


def open_file_path(file: int) -> str:
    """The open file itself, by a path of this process."""
    return f"/proc/self/fd/{file}"


def copy(
    source_url: str,
    source: str,
    url: str,
    target: str,
    *,
    expected: Content = ANY,
    check: Callable[[], None] | None = None,
) -> Stored:
    """Copies to a temporary name beside the target, reads it back, renames. ``check``: as in
    ``going_on``."""
    temporary = os.path.join(os.path.dirname(target), temporary_name())
    with os_errors_at(source_url):
        reader = open_regular(source_url, source)
    try:
        with reader, os_errors_at(url):
            with open_making_folders(temporary) as writer:
                found = copy_hashed(reader.fileno(), writer.fileno(), check=check)
                _keep_executable(reader, writer)
            require_same(source_url, expected=expected, found=found)
            verify(url, temporary, checksum=found.checksum, size=found.size, check=check)
            os.replace(temporary, target)
    except BaseException:
        _forget(temporary)
        raise
    return found


def write(
    read: Callable[[int], bytes], url: str, target: str, *, expected: Content = ANY
) -> Stored:
    """All that ``read`` gives, to a temporary name beside the target; compared, read back,
    renamed."""
    temporary = os.path.join(os.path.dirname(target), temporary_name())
    try:
        with os_errors_at(url):
            with open_making_folders(temporary) as writer:
                found = stream(read, partial(write_all, writer.fileno()))
            require_same(url, expected=expected, found=found)
            verify(url, temporary, checksum=found.checksum, size=found.size)
            os.replace(temporary, target)
    except BaseException:
        _forget(temporary)
        raise
    return found


def put_bytes(data: bytes, url: str, *, target: str) -> Stored:
    """Writes a small file under a temporary name, renames."""
    temporary = os.path.join(os.path.dirname(target), temporary_name())
    with os_errors_at(url):
        try:
            with open_making_folders(temporary) as writer:
                write_all(writer.fileno(), data)
            os.replace(temporary, target)
        except BaseException:
            _forget(temporary)
            raise
    return Stored(len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")


def remove(url: str, path: str) -> bool:
    """Removes a file; False where there was none."""
    with os_errors_at(url):
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True


def remove_below(root: str, url: str, *, storage_url: str) -> bool:
    """As ``remove``, folder by folder from ``root`` on, so that no link leads elsewhere, were it
    made in this moment. A link in the file's place is removed, and not what it leads to. Raises
    ``BehindLink`` where one stands in the way."""
    with os_errors_at(url), ExitStack() as opened:
        try:
            folder, name = _open_folder_of(root, url, storage_url, opened)
            os.unlink(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True


def remove_folder_below(root: str, url: str, *, storage_url: str) -> bool:
    """Removes an empty folder, found as in ``remove_below``; False where it has files. Raises
    ``BehindLink`` where it, too, is one."""
    with os_errors_at(url), ExitStack() as opened:
        try:
            folder, name = _open_folder_of(root, url, storage_url, opened)
            _require_no_link(name, folder, url, storage_url)
            os.rmdir(name, dir_fd=folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                return False
            raise
        return True


def _open_folder_of(root: str, url: str, storage_url: str, closing: ExitStack) -> tuple[int, str]:
    """Descriptor of the folder in which ``url`` lies, and its name there."""
    *folders, name = url[len(storage_url.rstrip("/")) + 1 :].split("/")
    if not {"", ".", ".."}.isdisjoint((*folders, name)):
        raise OutsideStorage(url, storage_url)
    place = _opened(root, closing)
    for folder in folders:
        _require_no_link(folder, place, url, storage_url)
        place = _opened(folder, closing, os.O_NOFOLLOW, place)
    return place, name


def _require_no_link(name: str, within: int, url: str, storage_url: str) -> None:
    if S_ISLNK(os.lstat(name, dir_fd=within).st_mode):
        raise BehindLink(url, storage_url)


def entries(url: str, path: str) -> Iterator[Entry]:
    """All files below a folder, folder by folder in order of name; links to folders are not
    followed."""
    with os_errors_at(url):
        try:
            found = sorted(os.scandir(path), key=lambda item: item.name)
        except FileNotFoundError:
            return
        for item in found:
            if item.is_dir(follow_symlinks=False):
                yield from entries(url, item.path)
                continue
            try:
                stat = item.stat()
            except FileNotFoundError:
                continue  # removed meanwhile, or a link to nothing
            except OSError:
                if item.is_symlink():
                    continue  # a link to itself, or to what nobody may see
                raise
            modified = datetime.fromtimestamp(stat.st_mtime, UTC)
            yield Entry(
                name=item.name, url=local_url(item.path), size=stat.st_size, modified=modified
            )


def make_folder_of(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)


def _device_for(path: str) -> int:
    """Where a file of this path is, or will be; its folders are made where they are missing."""
    try:
        return os.stat(os.path.dirname(path)).st_dev
    except FileNotFoundError:
        make_folder_of(path)
        return os.stat(os.path.dirname(path)).st_dev


def open_making_folders(path: str) -> FileIO:
    """A new unbuffered file for writing; its folders are made where they are missing."""
    try:
        return open(path, "xb", buffering=0)
    except FileNotFoundError:
        make_folder_of(path)
        return open(path, "xb", buffering=0)


def _opened(folder: str, closing: ExitStack, flags: int = 0, within: int | None = None) -> int:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | flags, dir_fd=within)
    closing.callback(os.close, descriptor)
    return descriptor


def _keep_executable(original: FileIO, copy: FileIO) -> None:
    """Who may execute a file may execute its copy."""
    executable = os.fstat(original.fileno()).st_mode & 0o111
    if executable:
        os.fchmod(copy.fileno(), S_IMODE(os.fstat(copy.fileno()).st_mode) | executable)


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
