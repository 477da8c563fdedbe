"""The operations on photos: scale to one height, and join side by side."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from collage.colours import to_rgb
from collage.joinable_png import is_joinable, join, write_joinable
from sluice.packs.images import check_size, read_upright
from sluice.packs.programs import write_atomically

#: The default limit for photos, before and after scaling.
MAX_MEGAPIXELS = 150.0
#: The number of pictures that are joined at once. Each is an open file.
MAX_OPEN = 64


def resize(path: Path, height: int, max_megapixels: float = MAX_MEGAPIXELS) -> Image.Image:
    """Return the upright photo in sRGB, scaled to `height` pixels.

    The width keeps the aspect ratio and is at least 1.

    Raises:
        MissingInput: The photo cannot be opened.
        BadData: The file is no photo, or is too large before or after scaling.
    """
    photo = read_upright(path, max_megapixels)
    width = max(1, round(photo.width * height / photo.height))
    check_size(path, (width, height), max_megapixels, "scaled, the image would have")
    return to_rgb(photo).resize((width, height), Image.Resampling.LANCZOS)


def write_picture(picture: Image.Image, path: Path) -> None:
    """Write an RGB picture as PNG.

    The format is lossless and allows widths up to 2³¹ - 1.
    """
    with write_atomically(path) as partial:
        write_joinable(picture, partial)


def write_side_by_side(
    paths: Sequence[Path], out: Path, max_megapixels: float = MAX_MEGAPIXELS
) -> None:
    """Write the pictures from left to right in this order as one picture.

    Pictures that this pack wrote are not decoded, so memory does not depend on their size.

    Args:
        paths: At least one picture.
        out: The joined picture.
        max_megapixels: The limit for pictures of other programs, which are decoded.

    Raises:
        MissingInput: A picture cannot be opened.
        BadData: A picture is damaged, too large, or not as high as the first.
    """
    with (
        TemporaryDirectory(dir=out.parent, prefix=".joining-") as folder,
        write_atomically(out) as partial,
    ):
        level = [
            path if is_joinable(path) else _convert(path, Path(folder), number, max_megapixels)
            for number, path in enumerate(paths)
        ]
        round_number = 0
        while len(level) > MAX_OPEN:
            groups = [level[at : at + MAX_OPEN] for at in range(0, len(level), MAX_OPEN)]
            joined = [Path(folder, f"{round_number}-{at}.png") for at in range(len(groups))]
            for path, group in zip(joined, groups, strict=True):
                join(group, path)
            level, round_number = joined, round_number + 1
        join(level, partial)


def _convert(path: Path, folder: Path, number: int, max_megapixels: float) -> Path:
    """Convert a picture of another program, and keep its name for error messages."""
    picture = read_upright(path, max_megapixels).convert("RGB")
    subfolder = folder / f"picture-{number}"
    subfolder.mkdir()
    write_joinable(picture, subfolder / path.name)
    return subfolder / path.name
