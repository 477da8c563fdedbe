"""Folders for stacks: with short paths for sockets, and open to the user of the database."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def create_open_folder() -> Iterator[Path]:
    """Yield a folder, and remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-faults-"))
    folder.chmod(0o755)
    try:
        yield folder / "run"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    with create_open_folder() as folder:
        yield folder
