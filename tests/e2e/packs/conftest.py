"""Photos, and the collage that a plain program makes of them."""

from pathlib import Path

import pytest
from collage import commands, images

WORKFLOW = Path(__file__).parents[3] / "templates" / "collage" / "workflow.cwl"
HEIGHT = 40


@pytest.fixture(scope="module")
def collage_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``photos`` and their collage ``plain.png``."""
    folder = tmp_path_factory.mktemp("collage")
    assert images.main(["--out", str(folder / "photos"), "--images", "11", "--seed", "2"]) == 0
    photos = [str(path) for path in (folder / "photos").iterdir()]
    arguments = ["--height", str(HEIGHT), "--out", str(folder / "plain.png"), *photos]
    assert commands.plain_main(arguments) == 0
    return folder
