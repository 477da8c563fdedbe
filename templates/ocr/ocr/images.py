"""Image files: reproducible output, and input with a size check."""

import io
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sluice.packs.images import read_upright
from sluice.packs.programs import BadData

#: The default limit for images. DIN A2 at 600 dpi has 140 megapixels.
MAX_MEGAPIXELS = 150.0


def encode_image(pixels: NDArray[np.uint8], file_format: Literal["png", "jpg"]) -> bytes:
    """Return the bytes of a grey image."""
    buffer = io.BytesIO()
    if file_format == "png":
        Image.fromarray(pixels).save(buffer, "PNG")
    else:
        Image.fromarray(pixels).save(buffer, "JPEG", quality=90, dpi=(150, 150))
    return buffer.getvalue()


def read_page_image(path: Path, max_megapixels: float = MAX_MEGAPIXELS) -> NDArray[np.uint8]:
    """Return upright pixels in the order blue, green, red, as pero-ocr needs them.

    Nothing is decoded before its size is known to be within bounds. Images of 16 bits keep the
    upper 8. Transparent images get a white background.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no image, has no or too many pixels, is incomplete, has several pages,
            or has floating-point pixels.
    """
    upright = read_upright(path, max_megapixels, one_page=True)
    if upright.mode == "F":
        raise BadData(path, "its pixels are not whole numbers: save it with 8 or 16 bits")
    if upright.mode.startswith("I"):
        upright = _convert_to_8_bits(upright)
    elif upright.has_transparency_data:
        rgba = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
    return np.ascontiguousarray(np.asarray(upright.convert("RGB"))[:, :, ::-1])


def _convert_to_8_bits(image: Image.Image) -> Image.Image:
    """Convert a grey image of 16 bits, which Pillow would cut off at 255."""
    pixels = np.asarray(image).astype(np.int64)
    return Image.fromarray((np.clip(pixels, 0, 65_535) >> 8).astype(np.uint8))
