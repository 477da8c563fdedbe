"""Photos of any kind become upright 8-bit RGB pictures of one height; other files are refused."""

import tracemalloc
import zlib
from pathlib import Path
from random import Random

import pytest
from collage.images import KINDS, draw_photo, encode_jpeg
from collage.joinable_png import combine_adler
from collage.pictures import resize, write_picture, write_side_by_side
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageCms, ImageStat

from sluice.packs.programs import BadData

HEIGHT = 90


def save_image(image: Image.Image, path: Path, **options: object) -> Path:
    image.save(path, **options)  # type: ignore[arg-type]
    return path


def get_colour(picture: Image.Image, x: int, y: int) -> tuple[int, ...]:
    pixel = picture.getpixel((x, y))
    assert isinstance(pixel, tuple)
    return tuple(int(value) for value in pixel)


def test_each_kind_of_photo_is_read(photos: list[Path]) -> None:
    assert len(photos) == len(KINDS)
    for photo in photos:
        picture = resize(photo, HEIGHT)
        assert (picture.mode, picture.height) == ("RGB", HEIGHT), photo
        with Image.open(photo) as image:
            sides = {image.width / image.height, image.height / image.width}
        assert any(abs(picture.width - HEIGHT * side) <= 0.5 for side in sides), photo


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photo_is_rotated_upright_for_each_orientation(orientation: int, tmp_path: Path) -> None:
    """The photo has 60 × 40 pixels and a red upper left corner (EXIF 2.3, table 6)."""
    upright = Image.new("RGB", (60, 40), "white")
    upright.paste("red", (0, 0, 30, 20))
    rows = {1: "top", 2: "top", 3: "bottom", 4: "bottom", 5: "left", 6: "right", 7: "right"}
    first_row = rows.get(orientation, "left")
    columns = {1: "left", 2: "right", 3: "right", 4: "left", 5: "top", 6: "top", 7: "bottom"}
    first_column = columns.get(orientation, "bottom")

    def shown(row: int, column: int, size: tuple[int, int]) -> tuple[int, int]:
        """Return x and y at which a stored pixel is displayed."""
        along = {"left": column, "right": size[0] - 1 - column}
        down = {"top": row, "bottom": size[1] - 1 - row}
        if first_row in down:
            return along[first_column], down[first_row]
        along = {"left": row, "right": size[0] - 1 - row}
        down = {"top": column, "bottom": size[1] - 1 - column}
        return along[first_row], down[first_column]

    turned = first_row in {"left", "right"}
    stored = Image.new("RGB", (40, 60) if turned else (60, 40))
    for row in range(stored.height):
        for column in range(stored.width):
            colour = upright.getpixel(shown(row, column, upright.size))
            assert colour is not None
            stored.putpixel((column, row), colour)
    exif = Image.Exif()
    exif[0x0112] = orientation
    photo = save_image(stored, tmp_path / "photo.png", exif=exif)
    assert resize(photo, 40).tobytes() == upright.tobytes()


def test_rotated_photos_of_the_generator_are_read_upright(tmp_path: Path) -> None:
    """The generator rotates photos, and the reader rotates them back."""
    for seed in range(12):
        path = tmp_path / f"{seed}.jpg"
        photo = draw_photo(seed, Random(seed))
        path.write_bytes(encode_jpeg(photo.copy(), Random(seed)))
        difference = ImageChops.difference(resize(path, photo.height), photo).convert("L")
        assert ImageStat.Stat(difference).mean[0] < 4


def test_sixteen_bit_grey_keeps_its_upper_bits(tmp_path: Path) -> None:
    deep = Image.new("I;16", (2, 1))
    deep.putpixel((0, 0), 0x4000)
    deep.putpixel((1, 0), 0xFFFF)
    picture = resize(save_image(deep, tmp_path / "deep.png"), 1)
    assert [get_colour(picture, x, 0) for x in (0, 1)] == [(63, 63, 63), (255, 255, 255)]


@pytest.mark.parametrize(("mode", "values"), [("F", (-2.0, 6.0)), ("I", (100_000, 300_000))])
def test_grey_without_fixed_range_is_scaled_to_its_extremes(
    mode: str, values: tuple[float, float], tmp_path: Path
) -> None:
    image = Image.new(mode, (2, 1), values[0])
    image.putpixel((1, 0), values[1])
    picture = resize(save_image(image, tmp_path / "real.tif"), 1)
    assert [get_colour(picture, x, 0)[0] for x in (0, 1)] == [0, 255]


def test_transparent_pixels_become_white(tmp_path: Path) -> None:
    layered = Image.new("RGBA", (2, 1), (200, 0, 0, 255))
    layered.putpixel((0, 0), (200, 0, 0, 0))
    picture = resize(save_image(layered, tmp_path / "layered.png"), 1)
    assert [get_colour(picture, x, 0) for x in (0, 1)] == [(255, 255, 255), (200, 0, 0)]


def test_animation_is_read_as_its_first_picture(tmp_path: Path) -> None:
    first, second = Image.new("RGB", (4, 4), "blue"), Image.new("RGB", (4, 4), "green")
    path = save_image(first, tmp_path / "moves.gif", save_all=True, append_images=[second])
    assert get_colour(resize(path, 4), 0, 0) == (0, 0, 255)


def test_photo_is_converted_to_srgb(tmp_path: Path) -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    photo = Image.new("RGB", (3, 3), (10, 100, 200))
    resized = resize(save_image(photo, tmp_path / "srgb.png", icc_profile=srgb), 3)
    assert all(
        abs(a - b) <= 1 for a, b in zip(get_colour(resized, 1, 1), (10, 100, 200), strict=True)
    )
    # A profile for another kind of pixels is ignored.
    resized = resize(save_image(photo, tmp_path / "lab.png", icc_profile=lab), 3)
    assert get_colour(resized, 1, 1) == (10, 100, 200)


def test_colour_profile_changes_the_colours(tmp_path: Path) -> None:
    """The profile has red and blue exchanged."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, blue = profile.index(b"rXYZ"), profile.index(b"bXYZ")
    profile[red : red + 4], profile[blue : blue + 4] = b"bXYZ", b"rXYZ"
    path = save_image(
        Image.new("RGB", (1, 1), "red"), tmp_path / "odd.png", icc_profile=bytes(profile)
    )
    assert get_colour(resize(path, 1), 0, 0) == (0, 0, 255)


def test_single_pixel_is_a_photo(tmp_path: Path) -> None:
    assert resize(save_image(Image.new("RGB", (1, 1)), tmp_path / "dot.png"), 50).size == (50, 50)


def test_narrow_photo_has_a_width_of_at_least_one_pixel(tmp_path: Path) -> None:
    assert resize(save_image(Image.new("L", (1, 3000)), tmp_path / "line.png"), 50).size == (1, 50)


def test_very_wide_photo_is_scaled_within_limits(tmp_path: Path) -> None:
    path = save_image(Image.new("L", (30_000, 100), 9), tmp_path / "wide.png")
    assert resize(path, 50).size == (15_000, 50)
    with pytest.raises(BadData, match="scaled, the image would have 3000000 × 10000 pixels"):
        resize(path, 10_000)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the file is empty"),
        (b"To whom it may concern", "this is not an image"),
    ],
)
def test_file_without_an_image_is_refused(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(content)
    with pytest.raises(BadData, match=sentence):
        resize(tmp_path / "photo.jpg", HEIGHT)


def test_truncated_photo_is_refused(photos: list[Path], tmp_path: Path) -> None:
    for photo in photos:
        content = photo.read_bytes()
        cut = tmp_path / photo.name
        cut.write_bytes(content[: len(content) // 3])
        with pytest.raises(BadData, match=r"to its end|not an image"):
            resize(cut, HEIGHT)


def test_photo_with_too_many_pixels_is_refused_before_decoding(tmp_path: Path) -> None:
    path = save_image(Image.new("1", (20_000, 10_000)), tmp_path / "huge.png")
    with pytest.raises(BadData, match="20000 × 10000 pixels, 200 million; at most 150 million"):
        resize(path, HEIGHT)


def test_joining_in_pairs_equals_joining_all_at_once(photos: list[Path], tmp_path: Path) -> None:
    scaled, widths = [], []
    for number, photo in enumerate(photos[:5]):
        picture = resize(photo, HEIGHT)
        scaled.append(tmp_path / f"{number}.png")
        write_picture(picture, scaled[-1])
        widths.append(picture.width)
    write_side_by_side(scaled, tmp_path / "at-once.png")
    level = scaled
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [tmp_path / f"{len(level)}-{number}.png" for number in range(len(pairs))]
        for path, pair in zip(level, pairs, strict=True):
            write_side_by_side(pair, path)
    assert level[0].read_bytes() == (tmp_path / "at-once.png").read_bytes()
    with Image.open(tmp_path / "at-once.png") as joined:
        assert joined.size == (sum(widths), HEIGHT)
        left = 0
        for photo, width in zip(photos, widths, strict=False):
            part = joined.crop((left, 0, left + width, HEIGHT))
            assert part.tobytes() == resize(photo, HEIGHT).tobytes(), "a pixel has changed"
            left += width


def test_joining_needs_few_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collage.pictures.MAX_OPEN", 3)
    colours = [(number, 255 - number, 7) for number in range(20)]
    for number, colour in enumerate(colours):
        write_picture(Image.new("RGB", (1 + number % 2, 4), colour), tmp_path / f"{number}.png")
    write_side_by_side([tmp_path / f"{number}.png" for number in range(20)], tmp_path / "all.png")
    with Image.open(tmp_path / "all.png") as joined:
        shown = [get_colour(joined, x, 3) for x in range(joined.width)]
    assert shown == [colour for number, colour in enumerate(colours) for _ in range(1 + number % 2)]
    assert not list(tmp_path.glob(".*")), "a temporary file is left"


def test_pictures_of_other_programs_are_joined(tmp_path: Path) -> None:
    own, other = tmp_path / "own.png", tmp_path / "other.png"
    write_picture(Image.new("RGB", (2, 3), "red"), own)
    save_image(Image.new("P", (1, 3)), other)
    write_side_by_side([other, own], tmp_path / "joined.png")
    with Image.open(tmp_path / "joined.png") as joined:
        assert [get_colour(joined, x, 1) for x in range(3)] == [(0, 0, 0), *[(255, 0, 0)] * 2]
    with pytest.raises(BadData, match="at most 1e-06 million"):
        write_side_by_side([other, own], tmp_path / "joined.png", 0.000001)


def test_joining_decodes_no_picture_and_uses_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = Image.effect_noise((3000, 700), 80).convert("RGB")
    write_picture(noise, tmp_path / "a.png")
    size = (tmp_path / "a.png").stat().st_size
    assert size > 2_000_000
    monkeypatch.setattr(Image, "open", None)
    tracemalloc.start()
    write_side_by_side([tmp_path / "a.png"] * 8, tmp_path / "wide.png")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "wide.png").stat().st_size > 8 * 2_000_000
    assert most < 8_000_000, "the files have 16 MB and their pixels 50 MB"


@pytest.mark.parametrize("spoilt", ["cut", "flipped", "index"])
def test_damaged_pictures_are_not_joined(spoilt: str, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    write_picture(Image.effect_noise((40, 30), 80).convert("RGB"), path)
    content = bytearray(path.read_bytes())
    if spoilt == "cut":
        content = content[: len(content) // 2]
    else:
        content[len(content) // 2 if spoilt == "flipped" else 60] ^= 0x10
    path.write_bytes(content)
    with pytest.raises(BadData, match=r"a\.png: it is (cut off|damaged)"):
        write_side_by_side([path, path], tmp_path / "out.png")
    assert not (tmp_path / "out.png").exists()


@given(st.binary(), st.binary())
def test_combined_checksum_equals_that_of_the_joined_data(first: bytes, second: bytes) -> None:
    combined = combine_adler(zlib.adler32(first), zlib.adler32(second), len(second))
    assert combined == zlib.adler32(first + second)


def test_pictures_of_different_heights_are_not_joined(tmp_path: Path) -> None:
    high = save_image(Image.new("RGB", (5, 20)), tmp_path / "high.png")
    low = save_image(Image.new("RGB", (5, 10)), tmp_path / "low.png")
    with pytest.raises(BadData, match=r"low.png: it is 10 pixels high, and high.png 20"):
        write_side_by_side([high, low], tmp_path / "out.png")
