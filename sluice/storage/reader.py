"""Reading of a file on a storage from any offset."""

import os
from typing import Any

from sluice.storage import remote
from sluice.storage.errors import FileMissing, os_errors_at
from sluice.storage.local import open_regular
from sluice.storage.places import find_local_path


class Reader:
    """A file that is open for reading, and a context manager.

    ``size`` is in bytes. Every call blocks, and only one may run at a time.
    """

    def __init__(self, url: str, file: Any, size: int) -> None:
        self.url = url
        self.size = size
        self._file = file

    def read(self, offset: int, length: int) -> bytes:
        """Return exactly ``length`` bytes, or less at the end of the file.

        Raises:
            StorageUnavailable: The storage cannot be used.
        """
        parts: list[bytes] = []
        with remote.errors_at(self.url):
            self._file.seek(offset)
            while length > 0 and (data := self._file.read(length)):
                parts.append(data)
                length -= len(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def open_reader(url: str) -> Reader:
    """Open a file for reading.

    Raises:
        FileMissing: There is no such file.
        NotAFile: It is not a regular file.
        StorageUnavailable: The storage cannot be used.
    """
    path = find_local_path(url)
    if path is None:
        file, size = remote.open_file(url)
        return Reader(url, file, size)
    with os_errors_at(url):
        try:
            opened = open_regular(url, path)
        except NotADirectoryError as error:  # the path continues below a file
            raise FileMissing(url) from error
    return Reader(url, opened, os.fstat(opened.fileno()).st_size)
