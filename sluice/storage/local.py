"""Files on local or mounted storages.

Plain system calls are used, because thousands of small files a second pass through here.
"""

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
from sluice.storage.entries import Entry, StoredFile, make_temporary_name
from sluice.storage.errors import (
    FileMissing,
    LinkInPath,
    NotAFile,
    OutsideStorage,
    os_errors_at,
)
from sluice.storage.places import build_local_url


def open_regular(url: str, path: str) -> FileIO:
    """Open a regular file for reading.

    Raises:
        NotAFile: It is something else, or a link to it: a pipe would block, and a device may be
            endless.
        OSError: The file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotAFile(url, "this is not a regular file")
    return FileIO(descriptor, "rb")


def link(url: str, path: str, *, to: str) -> None:
    """Create a link at ``to``, and replace what was there.

    It is a hard link if possible, because that needs no new inode, and else a symbolic link.
    """
    with os_errors_at(url):
        if not os.path.isfile(path):
            raise FileMissing(url)
        if os.path.lexists(to):
            os.unlink(to)
        try:
            if not os.path.islink(path):
                os.link(path, to)
                return
        except OSError:  # another file system, a file of another owner, too many links
            pass
        os.symlink(path, to)


def get_size(url: str, path: str) -> int:
    """Return the size of a file in bytes."""
    with os_errors_at(url):
        return os.stat(path).st_size


def fetch(url: str, path: str, *, to: str, expected_content: Content, reuse: bool = False) -> None:
    """Copy a file to ``to``, verify it during the copy, and replace what was there.

    ``reuse`` overwrites the old file in place.
    """
    with os_errors_at(url):
        if not reuse and os.path.lexists(to):
            os.unlink(to)
        try:
            with (
                open_regular(url, path) as reader,
                open(to, "r+b" if reuse else "xb", buffering=0) as writer,
            ):
                require_size(
                    url,
                    expected_size=expected_content.size,
                    actual=os.fstat(reader.fileno()).st_size,
                )
                actual = copy_hashed(reader.fileno(), writer.fileno())
                # Truncate last: if a file was emptied before, ext4 writes it to the disk on close.
                if reuse:
                    writer.truncate()
                _keep_executable(reader, writer)
            require_same(url, expected_content=expected_content, actual=actual)
        except BaseException:
            _remove_quietly(to)
            raise


def verify(
    url: str,
    path: str,
    *,
    checksum: str | None,
    size: int | None,
    check: Callable[[], None] | None = None,
) -> None:
    """Check the size and checksum of a file. None is not compared.

    ``check`` is as in ``with_check``.

    Raises:
        ChecksumMismatch: They differ.
    """
    with os_errors_at(url), open_regular(url, path) as file:
        require_size(url, expected_size=size, actual=os.fstat(file.fileno()).st_size)
        if checksum is not None:
            actual = copy_hashed(file.fileno(), None, check=check)
            require_same(url, expected_content=Content(checksum), actual=actual)


def adopt(file: int, url: str, *, target: str) -> StoredFile | None:
    """Give an open regular file a second name at the target, and return what is stored.

    None means that a copy is needed: another file system, a file with several names or of another
    owner, or a target that exists.
    """
    with os_errors_at(url):
        status = os.fstat(file)
        if status.st_nlink != 1 or _find_device(target) != status.st_dev:
            return None
        stored = copy_hashed(file, None)
        return stored if link_open(file, target) else None


def link_open(file: int, target: str) -> bool:
    """Give an open file a second name, whatever its own names lead to by now.

    Returns:
        Whether it worked.
    """
    try:
        # Without a folder descriptor, Python makes a link to the link.
        os.link(open_file_path(file), target, src_dir_fd=file, follow_symlinks=True)
    except OSError:
        return False
    return True


def open_file_path(file: int) -> str:
    """Return a path of this process to an open file."""
    return f"/proc/self/fd/{file}"


def copy(
    source_url: str,
    source: str,
    url: str,
    target: str,
    *,
    expected_content: Content = ANY,
    check: Callable[[], None] | None = None,
) -> StoredFile:
    """Copy a file: write a temporary file beside the target, read it back, rename it.

    ``check`` is as in ``with_check``.
    """
    temporary = os.path.join(os.path.dirname(target), make_temporary_name())
    with os_errors_at(source_url):
        reader = open_regular(source_url, source)
    try:
        with reader, os_errors_at(url):
            with open_making_folders(temporary) as writer:
                actual = copy_hashed(reader.fileno(), writer.fileno(), check=check)
                _keep_executable(reader, writer)
            require_same(source_url, expected_content=expected_content, actual=actual)
            verify(url, temporary, checksum=actual.checksum, size=actual.size, check=check)
            os.replace(temporary, target)
    except BaseException:
        _remove_quietly(temporary)
        raise
    return actual


def write(
    read: Callable[[int], bytes], url: str, target: str, *, expected_content: Content = ANY
) -> StoredFile:
    """Store all that ``read`` returns: write a temporary file, compare, read back, rename."""
    temporary = os.path.join(os.path.dirname(target), make_temporary_name())
    try:
        with os_errors_at(url):
            with open_making_folders(temporary) as writer:
                actual = stream(read, partial(write_all, writer.fileno()))
            require_same(url, expected_content=expected_content, actual=actual)
            verify(url, temporary, checksum=actual.checksum, size=actual.size)
            os.replace(temporary, target)
    except BaseException:
        _remove_quietly(temporary)
        raise
    return actual


def put_bytes(data: bytes, url: str, *, target: str) -> StoredFile:
    """Write a small file under a temporary name, and rename it."""
    temporary = os.path.join(os.path.dirname(target), make_temporary_name())
    with os_errors_at(url):
        try:
            with open_making_folders(temporary) as writer:
                write_all(writer.fileno(), data)
            os.replace(temporary, target)
        except BaseException:
            _remove_quietly(temporary)
            raise
    return StoredFile(len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")


def remove(url: str, path: str) -> bool:
    """Remove a file, and return whether it existed."""
    with os_errors_at(url):
        try:
            os.unlink(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True


def remove_below(root: str, url: str, *, storage_url: str) -> bool:
    """Remove a file, and return whether it existed, without following links.

    Folders are opened one by one from ``root`` on, so that a link that is created meanwhile leads
    nowhere else. If the file itself is a link, the link is removed.

    Raises:
        LinkInPath: A folder on the path is a link.
    """
    with os_errors_at(url), ExitStack() as opened:
        try:
            folder, name = _open_parent(root, url, storage_url, opened)
            os.unlink(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True


def remove_folder_below(root: str, url: str, *, storage_url: str) -> bool:
    """Remove an empty folder as ``remove_below`` does, and return False if it has entries.

    Raises:
        LinkInPath: The folder, or one on the path, is a link.
    """
    with os_errors_at(url), ExitStack() as opened:
        try:
            folder, name = _open_parent(root, url, storage_url, opened)
            _require_no_link(name, folder, url, storage_url)
            os.rmdir(name, dir_fd=folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST}:
                return False
            raise
        return True


def _open_parent(root: str, url: str, storage_url: str, exit_stack: ExitStack) -> tuple[int, str]:
    """Return the descriptor of the folder of ``url``, and the name in it."""
    *folders, name = url[len(storage_url.rstrip("/")) + 1 :].split("/")
    if not {"", ".", ".."}.isdisjoint((*folders, name)):
        raise OutsideStorage(url, storage_url)
    place = _open_folder(root, exit_stack)
    for folder in folders:
        _require_no_link(folder, place, url, storage_url)
        place = _open_folder(folder, exit_stack, os.O_NOFOLLOW, place)
    return place, name


def _require_no_link(name: str, within: int, url: str, storage_url: str) -> None:
    if S_ISLNK(os.lstat(name, dir_fd=within).st_mode):
        raise LinkInPath(url, storage_url)


def list_entries(url: str, path: str) -> Iterator[Entry]:
    """Yield all files below a folder, sorted by name in each folder.

    Links to folders are not followed.
    """
    with os_errors_at(url):
        try:
            items = sorted(os.scandir(path), key=lambda item: item.name)
        except FileNotFoundError:
            return
        for item in items:
            if item.is_dir(follow_symlinks=False):
                yield from list_entries(url, item.path)
                continue
            try:
                stat = item.stat()
            except FileNotFoundError:
                continue  # removed meanwhile, or a dangling link
            except OSError:
                if item.is_symlink():
                    continue  # a link to itself, or to something that may not be accessed
                raise
            modified = datetime.fromtimestamp(stat.st_mtime, UTC)
            yield Entry(
                name=item.name, url=build_local_url(item.path), size=stat.st_size, modified=modified
            )


def make_parent_folder(path: str) -> None:
    """Create the folder of a path."""
    os.makedirs(os.path.dirname(path), exist_ok=True)


def _find_device(path: str) -> int:
    """Return the device of a path. Missing folders are created."""
    try:
        return os.stat(os.path.dirname(path)).st_dev
    except FileNotFoundError:
        make_parent_folder(path)
        return os.stat(os.path.dirname(path)).st_dev


def open_making_folders(path: str) -> FileIO:
    """Open a new unbuffered file for writing. Missing folders are created."""
    try:
        return open(path, "xb", buffering=0)
    except FileNotFoundError:
        make_parent_folder(path)
        return open(path, "xb", buffering=0)


def _open_folder(
    folder: str, exit_stack: ExitStack, flags: int = 0, within: int | None = None
) -> int:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC | flags, dir_fd=within)
    exit_stack.callback(os.close, descriptor)
    return descriptor


def _keep_executable(original: FileIO, copy: FileIO) -> None:
    """Make the copy executable for those who may execute the original."""
    executable = os.fstat(original.fileno()).st_mode & 0o111
    if executable:
        os.fchmod(copy.fileno(), S_IMODE(os.fstat(copy.fileno()).st_mode) | executable)


def _remove_quietly(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
