"""Images as files: written the same way each time, read with their size looked at first."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pack_command import BadData, read_input
from PIL import Image, ImageOps, UnidentifiedImageError

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
    content = read_input(path)
    if not content:
        raise BadData(path, "the file is empty")
    # The bounds are ours, and told in our words.
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(content)) as image:
            _check_size(path, image.size, max_megapixels)
            upright = ImageOps.exif_transpose(image).convert("RGB")
    except UnidentifiedImageError as error:
        raise BadData(path, "this is no image, or one that is damaged or has no pixels") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise BadData(path, f"the image cannot be decoded to its end ({error})") from error
    return np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])


def _check_size(path: Path, size: tuple[int, int], max_megapixels: float) -> None:
    width, height = size
    if not width or not height:
        raise BadData(path, f"the image has no pixels ({width} × {height})")
    megapixels = width * height / 1_000_000
    if megapixels > max_megapixels:
        raise BadData(
            path,
            f"the image has {width} × {height} pixels, {megapixels:.0f} million; at most "
            f"{max_megapixels:g} million are read (--max-megapixels)",
        )
