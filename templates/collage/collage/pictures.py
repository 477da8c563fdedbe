"""What the pack does to photos: scaled to one height, and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pack_command import completed
from pack_images import check_size, read_upright
from PIL import Image

from collage.colours import to_rgb
from collage.joinable_png import is_joinable, join, write_joinable

#: Above that a photo is refused unless somebody asks for more, before and after it is scaled.
MAX_MEGAPIXELS = 150.0
#: Pictures that are joined at once: each is an open file.
MAX_OPEN = 64


def resize(path: Path, height: int, max_megapixels: float = MAX_MEGAPIXELS) -> Image.Image:
    """The photo, upright, in sRGB, `height` pixels high; its width keeps the aspect, and is 1 at
    least. Raises MissingInput, or BadData for what is no photo or too large, now or then.
    """
    photo = read_upright(path, max_megapixels)
    width = max(1, round(photo.width * height / photo.height))
    check_size(path, (width, height), max_megapixels, "scaled, the image would have")
    return to_rgb(photo).resize((width, height), Image.Resampling.LANCZOS)


def write_picture(picture: Image.Image, path: Path) -> None:
    """Write an RGB picture as PNG: nothing is lost, and its width is bounded by nothing that
    matters (2³¹ - 1).
    """
    with completed(path) as partial:
        write_joinable(picture, partial)


def write_side_by_side(
    paths: Sequence[Path], out: Path, max_megapixels: float = MAX_MEGAPIXELS
) -> None:
    """Write the pictures from left to right in this order as one picture.

    Pictures that this pack wrote are not decoded, so memory does not depend on their size.

    Args:
        paths: At least one picture.
        out: The joined picture.
        max_megapixels: Size above which a picture that another program wrote is refused: it has to
            be decoded.

    Raises:
        MissingInput: A picture cannot be opened.
        BadData: A picture is damaged, too large, or not as high as the first.
    """
    with TemporaryDirectory(dir=out.parent, prefix=".joining-") as folder, completed(out) as whole:
        level = [
            path if is_joinable(path) else _converted(path, Path(folder), number, max_megapixels)
            for number, path in enumerate(paths)
        ]
        round_number = 0
        while len(level) > MAX_OPEN:
            groups = [level[at : at + MAX_OPEN] for at in range(0, len(level), MAX_OPEN)]
            joined = [Path(folder, f"{round_number}-{at}.png") for at in range(len(groups))]
            for path, group in zip(joined, groups, strict=True):
                join(group, path)
            level, round_number = joined, round_number + 1
        join(level, whole)


def _converted(path: Path, folder: Path, number: int, max_megapixels: float) -> Path:
    """Write a picture of another program anew, under its own name in a folder of its own."""
    picture = read_upright(path, max_megapixels).convert("RGB")
    aside = folder / f"picture-{number}"
    aside.mkdir()
    write_joinable(picture, aside / path.name)
    return aside / path.name
