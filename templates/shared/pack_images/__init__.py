"""How the programs of packs read images: their size is looked at before anything is decoded."""

from __future__ import annotations

import io
from pathlib import Path

from pack_command import BadData, read_input, reason_in
from PIL import Image, ImageOps, UnidentifiedImageError


def read_upright(path: Path, max_megapixels: float, *, one_page: bool = False) -> Image.Image:
    """The first picture of an image file in its own mode, turned as its EXIF orientation says.

    Nothing is decoded before its size is known to be within bounds. Raises MissingInput, or BadData
    for what is no image, has no or too many pixels, or ends too early; with ``one_page``, for a
    TIFF of several pages, too.
    """
    content = read_input(path)
    if not content:
        raise BadData(path, "the file is empty")
    # The bounds are ours, and told in our words.
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(content)) as image:
            pages = getattr(image, "n_frames", 1)
            if one_page and image.format == "TIFF" and pages > 1:
                raise BadData(path, f"the file has {pages} pages: give each as a file of its own")
            check_size(path, image.size, max_megapixels)
            return ImageOps.exif_transpose(image)
    except UnidentifiedImageError as error:
        raise BadData(path, "this is no image, or one that is damaged or has no pixels") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise BadData(
            path, f"the image cannot be decoded to its end ({reason_in(error)})"
        ) from error


def check_size(
    path: Path, size: tuple[int, int], max_megapixels: float, subject: str = "the image has"
) -> None:
    """Raises BadData where width × height pixels are none, or more than allowed."""
    width, height = size
    if not width or not height:
        raise BadData(path, f"{subject} no pixels ({width} × {height})")
    megapixels = width * height / 1_000_000
    if megapixels > max_megapixels:
        raise BadData(
            path,
            f"{subject} {width} × {height} pixels, {megapixels:.0f} million; at most "
            f"{max_megapixels:g} million are read (--max-megapixels)",
        )
