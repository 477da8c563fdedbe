"""Images as files: written the same way each time, read with their size looked at first."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
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

    Nothing is decoded before its size is known to be within bounds. Raises MissingInput, or BadData
    for what is no image, has no or too many pixels, or ends too early.
    """
    upright = read_upright(path, max_megapixels).convert("RGB")
    return np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])
