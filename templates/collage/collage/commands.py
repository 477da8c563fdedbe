"""The commands `collage-resize`, `collage-concat` and `collage-plain`.

`collage-resize` scales one photo to the height of the picture. `collage-concat` joins neighbours
side by side. `collage-plain` makes the whole picture in one program, as a baseline for the
workflow.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from collage.pictures import MAX_MEGAPIXELS, resize, write_picture, write_side_by_side
from sluice.packs.programs import Parser, UsageError, finite, positive, run_command


def _resize(arguments: argparse.Namespace) -> None:
    picture = resize(arguments.photo, arguments.height, arguments.max_megapixels)
    write_picture(picture, arguments.out)


def _concat(arguments: argparse.Namespace) -> None:
    if not arguments.pictures:
        raise UsageError("there is no picture to join: a collage has one photo at least")
    write_side_by_side(arguments.pictures, arguments.out, arguments.max_megapixels)


def _plain(arguments: argparse.Namespace) -> None:
    photos = sorted(arguments.photos, key=lambda path: (path.stat().st_mtime_ns, path.name))
    with TemporaryDirectory(dir=arguments.out.parent, prefix=".scaled-") as folder:
        paths = []
        for number, photo in enumerate(photos):
            picture = resize(photo, arguments.height, arguments.max_megapixels)
            paths.append(Path(folder, f"{number}.png"))
            write_picture(picture, paths[-1])
        write_side_by_side(paths, arguments.out)


def _parser(name: str, description: str, *, scales: bool) -> Parser:
    parser = Parser(prog=name, description=description)
    add = parser.add_argument
    if scales:
        add(
            "--height",
            type=positive,
            required=True,
            metavar="PIXELS",
            help="Height of the picture in pixels",
        )
    add(
        "--max-megapixels",
        type=finite,
        default=MAX_MEGAPIXELS,
        metavar="MEGAPIXELS",
        help="Refuse images with more than this many million pixels before they are decoded"
        f" (default: {MAX_MEGAPIXELS:g}); pictures that collage-resize or collage-concat wrote"
        " have no limit, because they are not decoded",
    )
    add("--out", type=Path, required=True, metavar="FILE", help="PNG file to write the picture to")
    return parser


def resize_main(argv: Sequence[str] | None = None) -> int:
    """Run `collage-resize` and return its exit code."""
    parser = _parser(
        "collage-resize",
        "Scale a photo to a height without changing its aspect ratio.",
        scales=True,
    )
    parser.add_argument("photo", type=Path, help="Photo in any format that Pillow reads")
    return run_command(parser, _resize, argv)


def concat_main(argv: Sequence[str] | None = None) -> int:
    """Run `collage-concat` and return its exit code."""
    parser = _parser("collage-concat", "Put pictures of equal height side by side.", scales=False)
    parser.add_argument(
        "pictures", type=Path, nargs="*", help="Pictures to join, from left to right"
    )
    return run_command(parser, _concat, argv)


def plain_main(argv: Sequence[str] | None = None) -> int:
    """Run `collage-plain` and return its exit code."""
    parser = _parser(
        "collage-plain",
        "Make a collage of photos, sorted by modification time, in one program.",
        scales=True,
    )
    parser.add_argument(
        "photos", type=Path, nargs="+", help="Photos in any format that Pillow reads, in any order"
    )
    return run_command(parser, _plain, argv)
