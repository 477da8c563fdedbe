"""Test that only regular files of local storages are read."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from sluice import storage
from sluice.storage import NotAFile, build_local_url

CHECKSUM = f"sha256:{sha256(b'hi').hexdigest()}"


@pytest.mark.parametrize("size", [None, 2])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_fetch_and_copy_read_only_regular_files(
    kind: str, size: int | None, tmp_path: Path
) -> None:
    """A read from a pipe would block, and a device would fill the disk of the node."""
    lying = tmp_path / "lying"
    match kind:
        case "pipe":
            os.mkfifo(lying)
        case "device":
            lying.symlink_to("/dev/null")
        case _:
            lying.mkdir()
    url, to = build_local_url(lying), tmp_path / "to"
    for copied in (0, 1 << 20):
        with pytest.raises(NotAFile, match="not a regular file"):
            storage.fetch(url, to, checksum=CHECKSUM, size=size, copied_bytes=copied)
    with pytest.raises(NotAFile, match="not a regular file"):
        storage.copy(url, build_local_url(to), checksum=CHECKSUM, size=size)
    assert not to.exists()
