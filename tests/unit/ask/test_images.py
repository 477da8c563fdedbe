"""Checks of images: truncated images and unsuitable sizes are refused."""

import base64
import io
import json
import struct
import zlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from sluice.contracts.human_tasks.ask import Show
from wfms.ask.domain.contents import ItemContent, UnreadableContent, read_content, read_shown_image
from wfms.ask.domain.images import MAX_PIXELS, is_complete, read_size

KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


SIZE = (200, 160)


def encode_image(picture: Image.Image, kind: str, **more: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **more)
    return out.getvalue()


def make_noise_image(kind: str, **more: object) -> bytes:
    return encode_image(Image.effect_noise(SIZE, 60).convert("RGB"), kind, **more)


def make_png(width: int, height: int) -> bytes:
    """Return a PNG that declares this size."""
    head = struct.pack(">II5B", width, height, 1, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def make_content_with_box(data: bytes, box: Any) -> ItemContent:
    document = {"image": base64.b64encode(data).decode(), "box": box}
    return read_content(json.dumps(document).encode(), Show.IMAGE)


@pytest.mark.parametrize("kind", KINDS)
def test_complete_image_is_accepted_and_a_truncated_image_is_refused(kind: str) -> None:
    data = make_noise_image(kind)
    assert is_complete(data, KINDS[kind])
    read_content(data, Show.IMAGE)
    for part in (0.2, 0.5, 0.9):
        cut = data[: int(part * len(data))]
        assert not is_complete(cut, KINDS[kind])
        with pytest.raises(UnreadableContent, match="truncated"):
            read_content(cut, Show.IMAGE)


@pytest.mark.parametrize("more", [{"progressive": True}, {"exif": "thumbnail"}])
def test_jpeg_ends_with_its_own_scan(more: dict[str, object]) -> None:
    """The end of an embedded preview does not count."""
    if "exif" in more:
        exif = Image.Exif()
        preview = Image.new("RGB", (16, 16))
        preview.save(out := io.BytesIO(), "JPEG")
        exif[0x927C] = out.getvalue()  # a preview in the maker notes of a camera
        more = {"exif": exif}
    data = make_noise_image("JPEG", **more)
    assert is_complete(data, KINDS["JPEG"])
    assert is_complete(data + b"what a camera adds", KINDS["JPEG"])
    assert not is_complete(data[:-100], KINDS["JPEG"])
    assert ("exif" in more) == (b"\xff\xd9" in data[:-100])


def test_bytes_after_the_end_of_an_image_are_ignored() -> None:
    assert is_complete(make_noise_image("PNG") + b"more", KINDS["PNG"])
    assert is_complete(make_noise_image("GIF") + b"\0\n", KINDS["GIF"])


@pytest.mark.parametrize("more", [{}, {"progressive": True}, {"lossless": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_size_of_each_image_format_is_read(kind: str, more: dict[str, object]) -> None:
    assert read_size(make_noise_image(kind, **more)) == SIZE


def test_size_of_a_rotated_photo_is_the_displayed_size() -> None:
    """Browsers rotate the photo, and boxes refer to the rotated image."""
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: a quarter turn to the right
    assert read_size(make_noise_image("JPEG", exif=exif)) == SIZE[::-1]


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\nIEND\xae\x42\x60\x82",
        make_png(5, 5).replace(b"IDAT", b"tEXt"),
        make_png(0, 5),
        b"\xff\xd8\xff\xda\xff\xd9",
        b"GIF89a\0\0\0\0\0\0\0;",
        b"RIFF\0\0\0\0WEBP",
    ],
)
def test_image_without_pixels_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableContent, match=r"the image (is truncated|has no width or height)"):
        read_content(data, Show.IMAGE)


def test_image_with_too_many_pixels_is_refused() -> None:
    side = int(MAX_PIXELS**0.5)
    read_content(make_png(side, side), Show.IMAGE)
    with pytest.raises(
        UnreadableContent, match=f"{side} by {side + 1} pixels, and at most {MAX_PIXELS}"
    ):
        read_content(make_png(side, side + 1), Show.IMAGE)


@pytest.mark.parametrize(
    "box", [[0, 0, 30, 20], [29.5, 19, 0.5, 1], [0.5, 1, 29.5 + 1e-9, 19 + 1e-9]]
)
def test_box_may_cover_all_or_a_part_of_its_image(box: list[float]) -> None:
    assert make_content_with_box(make_png(30, 20), box).box == tuple(box)


@pytest.mark.parametrize(
    "box",
    [
        [1, 2, 3],
        [-1, 0, 1, 1],
        [0, -1, 1, 1],
        "all",
        [1, 2, 3, "4"],
        [1, 2, 3, 1e12],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
        [5, 5, -1, 1],
        [1, 0, 30, 1],
        [0, 1, 1, 20],
        [5000, 5000, 10, 10],
    ],
)
def test_box_outside_its_image_or_of_wrong_form_is_refused(box: Any) -> None:
    with pytest.raises(UnreadableContent, match="within its 30 by 20 pixels"):
        make_content_with_box(make_png(30, 20), box)


SMALL = [encode_image(Image.new("RGB", (30, 20), "navy"), kind) for kind in KINDS]


@st.composite
def draw_damaged_image(draw: st.DrawFn) -> bytes:
    """Draw images in which some bytes are replaced, plain or in JSON."""
    data = draw(st.sampled_from(SMALL))
    begin = draw(st.integers(0, 60) | st.integers(0, len(data)))
    end = draw(st.integers(begin, begin + 8) | st.just(len(data)))
    data = data[:begin] + draw(st.binary(max_size=40)) + data[end:]
    if draw(st.booleans()):
        data = json.dumps({"image": base64.b64encode(data).decode(), "box": [0, 0, 9, 9]}).encode()
    return data


@given(draw_damaged_image() | st.binary())
@example(b"RIFF\0\0\0\0WEBPVP8L")
@example(b"\xff\xd8\xff\xc0\0\0\xff\xda\xff\xd9")
@example(b"GIF89a;")
def test_any_bytes_are_refused_or_an_image_of_valid_size(data: bytes) -> None:
    try:
        read_content(data, Show.IMAGE)
    except UnreadableContent:
        return
    image, _ = read_shown_image(data)
    size = read_size(image)
    assert size is not None
    assert size[0] * size[1] <= MAX_PIXELS
