"""Content of stored files, for tests of storages."""

from hashlib import sha256

import fsspec

from sluice import storage

CONTENT = b"hit " * 1000


def compute_checksum(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def read_content(url: str) -> bytes:
    """Read a stored file without the code under test."""
    with fsspec.open(url, expand=False) as file:
        return bytes(file.read())


def list_names(root: str) -> list[str]:
    return [entry.name for entry in storage.list_entries(root)]
