"""A copy of docker-compose.yml and the files that it mounts, which a test may break."""

import shutil
from pathlib import Path

import pytest

from tests.deploy.composition import Composition

#: Files that docker-compose.yml and its tests read.
PARTS = ("docker-compose.yml", "deploy", "docs/how-to", ".dockerignore")


@pytest.fixture
def composition(tmp_path: Path) -> Composition:
    for part in PARTS:
        source, target = Path(part), tmp_path / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("secrets", "__pycache__"))
        else:
            shutil.copy(source, target)
    return Composition(tmp_path)
