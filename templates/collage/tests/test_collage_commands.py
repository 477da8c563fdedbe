"""The programs of the pack, and their use in the workflow."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from collage import commands, images
from collage.pictures import MAX_MEGAPIXELS
from PIL import Image
from ruamel.yaml import YAML

PACK = Path(__file__).parents[1]
TOOLS = sorted((PACK / "tools").glob("*.cwl"))


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = YAML(typ="safe").load(path.read_text())
    return document


def test_plain_program_joins_photos_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Photos of the same time are ordered by name."""
    times = {"c.png": 100, "a.png": 200, "b.png": 200}
    colours = {"c.png": "red", "a.png": "green", "b.png": "blue"}
    for name, time in times.items():
        Image.new("RGB", (2, 2), colours[name]).save(tmp_path / name)
        os.utime(tmp_path / name, (time, time))
    out = tmp_path / "out.png"
    photos = [str(tmp_path / name) for name in ("b.png", "c.png", "a.png")]
    assert commands.plain_main(["--height", "2", "--out", str(out), *photos]) == 0
    with Image.open(out) as picture:
        assert [picture.getpixel((x, 0)) for x in (0, 2, 4)] == [
            (255, 0, 0),
            (0, 128, 0),
            (0, 0, 255),
        ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.png",
        "b.png",
        "c.png",
        "out.png",
    ]


def test_collage_without_photos_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.concat_main(["--out", str(tmp_path / "out.png")]) == 64
    assert capsys.readouterr().err == (
        "collage-concat: there is no picture to join: a collage has one photo at least\n"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("height", ["0", "-3", "many"])
def test_wrong_height_is_refused(
    height: str, photos: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(photos[0]), "--height", height, "--out", str(tmp_path / "out.png")]
    assert commands.resize_main(arguments) == 64
    assert "--height" in capsys.readouterr().err


def test_equal_seeds_draw_equal_photos(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        assert images.main(["--out", str(tmp_path / folder), "--images", "12", "--seed", "9"]) == 0
    one, two = (sorted((tmp_path / folder).iterdir()) for folder in ("one", "two"))
    assert [path.name for path in one] == [path.name for path in two]
    for first, second in zip(one, two, strict=True):
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_mtime == second.stat().st_mtime
    by_time = sorted(one, key=lambda path: path.stat().st_mtime)
    assert by_time != one, "the order of names must differ from the order of times"


def test_default_size_limit_of_the_workflow_equals_that_of_the_programs() -> None:
    documents = map(_read, [PACK / "workflow.cwl", *TOOLS])
    limits = [
        document["inputs"]["max_megapixels"]["default"]
        for document in documents
        if "max_megapixels" in document["inputs"]
    ]
    assert limits == [MAX_MEGAPIXELS] * 3


def test_each_tool_is_an_installed_program_with_a_description() -> None:
    scripts = tomllib.loads((PACK / "pyproject.toml").read_text())["project"]["scripts"]
    assert len(TOOLS) == 2
    for path in TOOLS:
        tool = _read(path)
        assert tool["baseCommand"] == path.stem
        assert path.stem in scripts
        assert tool["doc"]
