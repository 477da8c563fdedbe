"""Images as files: written the same way each time, read with their size looked at first."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pack_command import BadData
from pack_images import read_upright
from PIL import Image

#: Above that an image is refused unless somebody asks for more: DIN A2 at 600 dpi has 140.
MAX_MEGAPIXELS = 150.0


def encode_image(pixels: NDArray[np.uint8], file_format: Literal["png", "jpg"]) -> bytes:
    """The bytes of a grey image."""
    buffer = io.BytesIO()
    if file_format == "png":
        Image.fromarray(pixels).save(buffer, "PNG")
    else:
        Image.fromarray(pixels).save(buffer, "JPEG", quality=90, dpi=(150, 150))
    return buffer.getvalue()


def read_page_image(path: Path, max_megapixels: float = MAX_MEGAPIXELS) -> NDArray[np.uint8]:
    """Pixels in the order blue, green, red, upright, as pero-ocr wants them.

    Nothing is decoded before its size is known to be within bounds. Of more than 8 bits a pixel the
    upper ones are taken, and what is transparent lies on white paper. Raises MissingInput, or
    BadData for what is no image, has no or too many pixels, ends too early, is several pages, or
    has pixels that are no whole numbers.
    """
    upright = read_upright(path, max_megapixels, one_page=True)
    if upright.mode == "F":
        raise BadData(path, "its pixels are no whole numbers: save it with 8 or 16 bits")
    if upright.mode.startswith("I"):
        upright = _with_8_bits(upright)
    elif upright.has_transparency_data:
        seen = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)
    return np.ascontiguousarray(np.asarray(upright.convert("RGB"))[:, :, ::-1])


def _with_8_bits(image: Image.Image) -> Image.Image:
    """A grey image of 16 bits, which Pillow would cut off at 255."""
    pixels = np.asarray(image).astype(np.int64)
    return Image.fromarray((np.clip(pixels, 0, 65_535) >> 8).astype(np.uint8))
