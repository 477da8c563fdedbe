"""A local storage, an fsspec storage, and a file to store."""

import uuid
from pathlib import Path

import pytest

from tests.unit.storage.stored_content import CONTENT


@pytest.fixture(params=["local", "remote"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "local":
        return f"file://{tmp_path}/storage"
    return f"memory://{uuid.uuid4().hex}"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a file.dat"
    path.write_bytes(CONTENT)
    return path
