"""`collage-images` draws test photos in many formats, each with its number on it.

The modification times are in the order of the numbers. The names are not.
"""

import argparse
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw, ImageFont

from sluice.packs.programs import Parser, not_negative, positive, run_command, write_complete

#: The operation that turns an upright image into the stored one, by EXIF orientation.
_TRANSPOSE_BY_ORIENTATION = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}
_ORIENTATION = 0x0112
#: 2001-09-09. Each photo is a minute later than the one before.
_FIRST_TIME = 1_000_000_000


def draw_photo(number: int, random: Random) -> Image.Image:
    """Return a coloured image with its number on it, 120 to 480 pixels wide and high."""
    size = random.randint(120, 480), random.randint(120, 480)
    photo = Image.linear_gradient("L").resize(size)
    dark, bright = (
        tuple(random.randint(*span) for _ in range(3)) for span in ((0, 90), (150, 255))
    )
    photo = Image.composite(
        Image.new("RGB", size, bright),
        Image.new("RGB", size, dark),
        photo.rotate(random.choice([0, 90, 180, 270]), expand=True).resize(size),
    )
    pen = ImageDraw.Draw(photo)
    for _ in range(4):
        x, y, radius = random.randrange(size[0]), random.randrange(size[1]), random.randint(8, 40)
        colour = tuple(random.randint(0, 255) for _ in range(3))
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    middle = size[0] / 2, size[1] / 2
    pen.text(middle, str(number), anchor="mm", font=ImageFont.load_default(72), fill="black")
    return photo


def encode_jpeg(photo: Image.Image, random: Random) -> bytes:
    """Return a JPEG as a camera stores it, turned at random, with its EXIF orientation."""
    orientation = random.randint(1, 8)
    turn = _TRANSPOSE_BY_ORIENTATION[orientation]
    exif = Image.Exif()
    exif[_ORIENTATION] = orientation
    return _encode(photo if turn is None else photo.transpose(turn), "JPEG", quality=92, exif=exif)


def _encode_cmyk(photo: Image.Image, _: Random) -> bytes:
    return _encode(photo.convert("CMYK"), "JPEG", quality=92)


def _encode_transparent(photo: Image.Image, _: Random) -> bytes:
    hole = Image.new("L", photo.size, 255)
    ImageDraw.Draw(hole).rectangle((0, 0, photo.width // 4, photo.height // 4), fill=0)
    photo.putalpha(hole)
    return _encode(photo, "PNG")


def _encode_deep_grey(photo: Image.Image, _: Random) -> bytes:
    grey = photo.convert("I").point(lambda value: value * 257)
    return _encode(grey.convert("I;16"), "PNG")


def _encode_animated(photo: Image.Image, _: Random) -> bytes:
    later = photo.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return _encode(photo, "GIF", save_all=True, append_images=[later], duration=200)


def _make_encoder(file_format: str) -> Callable[[Image.Image, Random], bytes]:
    return lambda photo, _: _encode(photo, file_format)


def _encode(photo: Image.Image, file_format: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    photo.save(buffer, file_format, **options)
    return buffer.getvalue()


#: File extensions with their encoders. Photos take turns.
KINDS: list[tuple[str, Callable[[Image.Image, Random], bytes]]] = [
    ("jpg", encode_jpeg),
    ("png", _make_encoder("PNG")),
    ("webp", _make_encoder("WEBP")),
    ("jpg", _encode_cmyk),
    ("gif", _encode_animated),
    ("png", _encode_transparent),
    ("bmp", _make_encoder("BMP")),
    ("png", _encode_deep_grey),
    ("tif", _make_encoder("TIFF")),
    ("jpg", encode_jpeg),
]


def _write(arguments: argparse.Namespace) -> None:
    random = Random(arguments.seed)  # noqa: S311 - no secret
    names = random.sample(range(10_000), arguments.images)
    arguments.out.mkdir(parents=True, exist_ok=True)
    for number in range(1, arguments.images + 1):
        extension, encode = KINDS[(number - 1) % len(KINDS)]
        path = arguments.out / f"img-{names[number - 1]:04}.{extension}"
        write_complete(path, encode(draw_photo(number, random), random))
        time = _FIRST_TIME + 60 * number
        os.utime(path, (time, time))
    print(f"{arguments.images} photos in {arguments.out}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `collage-images` and return its exit code."""
    parser = Parser(
        prog="collage-images",
        description="Draw numbered test photos, whose modification times follow the numbers.",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FOLDER", help="Folder to write the photos to")
    add(
        "--images",
        type=positive,
        required=True,
        metavar="N",
        help="Number of photos to draw, at most 10000",
    )
    add(
        "--seed",
        type=not_negative,
        default=1,
        help="Seed of the random photos; equal seeds give equal photos (default: %(default)s)",
    )
    return run_command(parser, _write, argv)
