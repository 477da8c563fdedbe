"""Photos of all kinds that the generator draws."""

from pathlib import Path

import pytest
from collage import images
from collage.images import KINDS


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return a photo of each kind, in the order of their modification times."""
    folder = tmp_path_factory.mktemp("collage") / "photos"
    assert images.main(["--out", str(folder), "--images", str(len(KINDS)), "--seed", "5"]) == 0
    return sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
