"""Folders for whole stacks: their paths are short, for the sockets in them, and open to the user that the database runs as."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Removed after the test."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-faults-"))
    folder.chmod(0o755)
    yield folder / "run"
    shutil.rmtree(folder, ignore_errors=True)
