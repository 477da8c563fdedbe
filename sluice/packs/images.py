"""Image input for the programs of packs, with a size check before anything is decoded."""

import io
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

from sluice.packs.programs import BadData, read_input, reason_in


def read_upright(path: Path, max_megapixels: float, *, one_page: bool = False) -> Image.Image:
    """Return the first image of a file in its own mode, turned as its EXIF orientation says.

    Nothing is decoded before its size is known to be within bounds.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no image, is incomplete, or has no or too many pixels. With
            ``one_page``, a TIFF of several pages is refused too.
    """
    content = read_input(path)
    if not content:
        raise BadData(path, "the file is empty")
    # `check_size` replaces Pillow's own limit and error.
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(content)) as image:
            pages = getattr(image, "n_frames", 1)
            if one_page and image.format == "TIFF" and pages > 1:
                raise BadData(path, f"the file has {pages} pages: give each as a separate file")
            check_size(path, image.size, max_megapixels)
            return ImageOps.exif_transpose(image)
    except UnidentifiedImageError as error:
        raise BadData(
            path, "this is not an image, or one that is damaged or has no pixels"
        ) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise BadData(
            path, f"the image cannot be decoded to its end ({reason_in(error)})"
        ) from error


def check_size(
    path: Path, size: tuple[int, int], max_megapixels: float, subject: str = "the image has"
) -> None:
    """Check the number of pixels.

    Raises:
        BadData: There are no pixels, or more than `max_megapixels` million.
    """
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
