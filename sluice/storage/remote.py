"""Files on storages that fsspec reaches (S3, HTTP, XRootD, …)."""

import contextlib
import io
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sluice.storage.checksums import ANY, Content, require_same, require_size, stream, with_check
from sluice.storage.copying import open_sparse_writer
from sluice.storage.entries import Entry, StoredFile, make_temporary_name
from sluice.storage.errors import NotAFile, StorageError, StorageUnavailable, from_os_error
from sluice.text.os_errors import reason_of

#: The protocols of fsspec for files of this machine.
_LOCAL = {"file", "local"}


@dataclass(frozen=True, slots=True)
class _RemotePath:
    """A path in a file system of fsspec."""

    system: Any
    path: str


@contextlib.contextmanager
def errors_at(url: str) -> Iterator[None]:
    """Turn all errors raised in the context into ``StorageError``.

    Drivers raise their own errors. Other errors than ``OSError`` mean that the storage cannot be
    used now.
    """
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        raise from_os_error(url, error) from error
    except Exception as error:  # boundary to drivers, whose exceptions share no base class
        raise StorageUnavailable(url, reason_of(error)) from error


def _resolve(url: str) -> _RemotePath:
    """Return the file system and the path of a URL.

    fsspec's own parser reads ``::`` as the start of another URL, and would use another file. It
    looks for a file URL without an absolute path below the current folder.

    Raises:
        NotAFile: It is a file URL without an absolute path.
        StorageUnavailable: No driver is installed for its protocol.
    """
    import fsspec  # noqa: PLC0415 - slow, and most processes use local storages only

    scheme, _, rest = url.partition("://")
    if scheme in _LOCAL and not rest.startswith("/"):
        raise NotAFile(url, "it has no absolute path: write it as file:///folder/file")
    try:
        kind = fsspec.get_filesystem_class(scheme)
        system, path = kind(**kind._get_kwargs_from_urls(url)), kind._strip_protocol(url)
    except (ImportError, ValueError) as error:
        raise StorageUnavailable(url, f"no driver for this protocol: {reason_of(error)}") from error
    return _RemotePath(system, str(path))


def fetch(url: str, to: str, *, checksum: str | None, size: int | None) -> None:
    """Copy a file to a local path, which is not visible yet, and verify it."""
    with errors_at(url):
        file = _resolve(url)
        with file.system.open(file.path, "rb") as reader, open_sparse_writer(to, "w") as writer:
            actual = stream(reader.read, writer.write)
    require_same(url, expected_content=Content(checksum, size), actual=actual)


def open_file(url: str) -> tuple[Any, int]:
    """Open a file for reading from any offset, and return its size, too."""
    with errors_at(url):
        file = _resolve(url)
        size = file.system.size(file.path)
        return file.system.open(file.path, "rb"), int(size)


def put(path: str, url: str, *, check: Callable[[], None] | None = None) -> StoredFile:
    """Write a local file: write a temporary file on the storage, read it back, rename it.

    ``check`` is as in ``with_check``.
    """
    with open(path, "rb") as reader:
        return write(with_check(reader.read, check), url, path, ANY)


def put_bytes(data: bytes, url: str) -> StoredFile:
    """Write a small file, as ``put`` does."""
    return write(io.BytesIO(data).read, url, url, ANY)


def copy(source_url: str, url: str, *, expected_content: Content) -> StoredFile:
    """Copy a file from storage to storage. ``expected_content`` is the content of the source."""
    with errors_at(source_url):
        source = _resolve(source_url)
        with source.system.open(source.path, "rb") as reader:
            return write(reader.read, url, source_url, expected_content)


def write(read: Any, url: str, source: str, expected_content: Content) -> StoredFile:
    """Store all that ``read`` returns: write a temporary file, read back, compare, rename.

    ``source`` names the origin in the error of a mismatch.
    """
    with errors_at(url):
        target = _resolve(url)
        folder = posixpath.dirname(target.path)
        temporary = posixpath.join(folder, make_temporary_name())
        target.system.makedirs(folder, exist_ok=True)
        try:
            with target.system.open(temporary, "wb") as writer:
                actual = stream(read, writer.write)
            require_same(source, expected_content=expected_content, actual=actual)
            with target.system.open(temporary, "rb") as reader:
                written_back = stream(reader.read, None)
            require_same(
                url, expected_content=Content(actual.checksum, actual.size), actual=written_back
            )
            target.system.mv(temporary, target.path)
        except BaseException:
            with contextlib.suppress(Exception):  # the first error is the one to report
                target.system.rm_file(temporary)
            raise
    return actual


def verify(url: str, *, checksum: str, size: int) -> None:
    """Check the size and checksum of a file."""
    with errors_at(url):
        file = _resolve(url)
        require_size(url, expected_size=size, actual=file.system.size(file.path))
        with file.system.open(file.path, "rb") as reader:
            require_same(
                url, expected_content=Content(checksum, size), actual=stream(reader.read, None)
            )


def remove(url: str) -> bool:
    """Remove a file, and return whether it existed."""
    with errors_at(url):
        file = _resolve(url)
        try:
            file.system.rm_file(file.path)
        except FileNotFoundError:
            return False
        return True


def remove_folder(url: str) -> bool:
    """Remove an empty folder (object stores have none), and return False if it has files."""
    with errors_at(url):
        file = _resolve(url)
        if not file.system.exists(file.path):
            return True
        if file.system.find(file.path):
            return False
        file.system.rmdir(file.path)
        return True


def check_list(url: str) -> None:
    """Read the list of a folder. A web server without lists only has to answer."""
    with errors_at(url):
        file = _resolve(url)
        file.system.invalidate_cache()
        try:
            file.system.ls(file.path, detail=False)
        except FileNotFoundError:
            if not url.startswith(("http://", "https://")):
                raise


def list_entries(url: str) -> Iterator[Entry]:
    """Yield all files below a folder."""
    with errors_at(url):
        file = _resolve(url)
        file.system.invalidate_cache()
        details_by_path: dict[str, dict[str, Any]] = file.system.find(file.path, detail=True)
    root = file.path.rstrip("/")
    for path in sorted(details_by_path):
        details = details_by_path[path]
        name = posixpath.basename(path)
        relative = path[len(root) :] if path.startswith(root) else "/" + name
        yield Entry(
            name=name,
            url=url + relative,
            size=int(details.get("size") or 0),
            modified=_modified(details),
        )


def _modified(details: dict[str, Any]) -> datetime:
    """Return the modification time of a file, in UTC.

    Drivers use different names, and some give seconds. Without a time the file counts as just
    written.
    """
    for key in ("LastModified", "mtime", "modified", "created"):
        value = details.get(key)
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
    return datetime.now(UTC)
