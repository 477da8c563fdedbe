"""What the pack does to photos: scaled to one height, and side by side."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from pack_command import BadData
from pack_images import check_size, read_upright
from PIL import Image

from collage.colours import to_rgb

#: Above that a photo is refused unless somebody asks for more, before and after it is scaled.
MAX_MEGAPIXELS = 150.0


def resize(path: Path, height: int, max_megapixels: float = MAX_MEGAPIXELS) -> Image.Image:
    """The photo, upright, in sRGB, `height` pixels high; its width keeps the aspect, and is 1 at
    least. Raises MissingInput, or BadData for what is no photo or too large, now or then."""
    photo = read_upright(path, max_megapixels)
    width = max(1, round(photo.width * height / photo.height))
    check_size(path, (width, height), max_megapixels, "scaled, the image would have")
    return to_rgb(photo).resize((width, height), Image.Resampling.LANCZOS)


def side_by_side(paths: Sequence[Path]) -> Image.Image:
    """The pictures from left to right in this order. Raises MissingInput, or BadData where one
    is no picture of the first one's height; precondition: there is one."""
    pictures = [read_upright(path, float("inf")).convert("RGB") for path in paths]
    height = pictures[0].height
    for path, picture in zip(paths, pictures, strict=True):
        if picture.height != height:
            raise BadData(path, f"it is {picture.height} pixels high, and {paths[0].name} {height}")
    joined = Image.new("RGB", (sum(picture.width for picture in pictures), height))
    left = 0
    for picture in pictures:
        joined.paste(picture, (left, 0))
        left += picture.width
    return joined


def encode(picture: Image.Image) -> bytes:
    """PNG: nothing is lost, and its width is bounded by nothing that matters (2³¹ - 1)."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()
