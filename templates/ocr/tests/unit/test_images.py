"""Reading of page images: invalid images are refused early, in one sentence."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ocr.images import read_page_image
from PIL import Image

from sluice.packs.programs import BadData, MissingInput


def test_page_image_is_read_unchanged(volume: Path) -> None:
    path = next(volume.iterdir())
    pixels = read_page_image(path)
    assert pixels.shape == (1414, 1000, 3)
    with Image.open(path) as image:
        assert image.getpixel((500, 700)) == pixels[700, 500, 0]


def test_colours_are_read_in_the_order_blue_green_red(tmp_path: Path) -> None:
    Image.new("RGB", (3, 2), (10, 20, 30)).save(tmp_path / "colour.png")
    assert read_page_image(tmp_path / "colour.png")[0, 0].tolist() == [30, 20, 10]


def test_sixteen_bit_images_keep_their_upper_bits(tmp_path: Path) -> None:
    grey = np.array([[0, 128 << 8], [65_535, 255 << 8]], np.uint16)
    for name in ("a.png", "a.tif"):
        Image.fromarray(grey).save(tmp_path / name)
        assert read_page_image(tmp_path / name)[:, :, 0].tolist() == [[0, 128], [255, 255]]


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_pixels_become_white(tmp_path: Path, mode: str) -> None:
    image = Image.new("RGBA", (2, 1), (0, 0, 0, 0))
    image.putpixel((1, 0), (0, 0, 0, 255))
    image.convert(mode).save(tmp_path / "ink.png")
    assert read_page_image(tmp_path / "ink.png")[0, :, 0].tolist() == [255, 0]


def test_multi_page_and_float_images_are_refused(tmp_path: Path) -> None:
    pages = [Image.new("L", (4, 4), grey) for grey in (0, 255)]
    pages[0].save(tmp_path / "two.tif", save_all=True, append_images=pages[1:])
    with pytest.raises(BadData, match="has 2 pages: give each as a separate file"):
        read_page_image(tmp_path / "two.tif")
    Image.fromarray(np.zeros((2, 2), np.float32)).save(tmp_path / "float.tif")
    with pytest.raises(BadData, match="not whole numbers"):
        read_page_image(tmp_path / "float.tif")


def test_rotated_photo_is_turned_upright(tmp_path: Path) -> None:
    image = Image.new("L", (4, 2), 255)
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.jpg", exif=exif)
    assert read_page_image(tmp_path / "turned.jpg").shape == (4, 2, 3)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("cut", "the image cannot be decoded to its end"),
        ("text", "this is not an image"),
        ("empty", "the file is empty"),
        ("zero", "or one that is damaged or has no pixels"),
        ("huge", "the image has 60000 × 60000 pixels, 3600 million; at most 150 million are read"),
    ],
)
def test_damaged_image_is_refused(damaged: Path, damage: str, sentence: str) -> None:
    with pytest.raises(BadData) as refused:
        read_page_image(damaged / f"{damage}.png")
    assert sentence in refused.value.reason


def test_blank_page_is_read(damaged: Path) -> None:
    assert read_page_image(damaged / "blank.png").shape == (1414, 1000, 3)


def test_truncated_jpeg_is_refused(volume: Path, tmp_path: Path) -> None:
    with Image.open(next(volume.iterdir())) as image:
        image.save(tmp_path / "whole.jpg")
    content = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(content[: len(content) // 2])
    with pytest.raises(BadData, match="to its end"):
        read_page_image(tmp_path / "cut.jpg")


def test_missing_image_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        read_page_image(tmp_path / "none.png")


def test_huge_image_is_refused_without_using_memory(damaged: Path) -> None:
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from ocr.images import read_page_image\n"
        "from sluice.packs.programs import BadData\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        "    read_page_image(Path(sys.argv[1]))\n"
        "except BadData:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(damaged / "huge.png")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 80 * 1024  # KiB
