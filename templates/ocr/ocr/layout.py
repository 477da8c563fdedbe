"""`ocr-layout` finds the regions and lines of a scanned page, and writes them as PAGE XML."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ocr.images import read_page_image
from ocr.stage_options import add_stage_options
from sluice.packs.programs import Parser, run_command, write_complete
from sluice.warm import once, serve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pero_ocr.core.layout import PageLayout

    from ocr.stages import Stage


@once
def _load_stage(folder: Path, threads: int) -> Stage:
    from ocr.stages import load_stage  # noqa: PLC0415 - a page that is none costs no loading

    stage = load_stage("layout", folder, threads)
    print(f"ocr-layout: loaded {folder.name}: {stage.describe()}", file=sys.stderr)
    return stage


def lay_out(stage: Stage, path: Path, image: NDArray[np.uint8]) -> PageLayout:
    """Return the regions in reading order, with their lines from the top.

    A page without text has no regions.
    """
    from pero_ocr.core.layout import PageLayout  # noqa: PLC0415

    layout = stage.process(path, image, PageLayout(id=path.name, page_size=image.shape[:2]))
    for region in layout.regions:
        region.polygon = _clip_to_page(region.polygon, layout)
        # pero-ocr's simple detector finds lines without height, which cannot be cropped.
        region.lines = [line for line in region.lines if sum(line.heights) > 0]
        for line in region.lines:
            line.baseline, line.polygon = (
                _clip_to_page(points, layout) for points in (line.baseline, line.polygon)
            )
        if stage.methods()[-1:] == ["LINES_SIMPLE_THRESHOLD"]:
            region.lines.reverse()  # this method lists them from the bottom
    order = {region.id: place for place, region in enumerate(layout.regions)}
    layout.reading_order = order or None  # an empty order is not valid PAGE XML
    return layout


def _clip_to_page(points: NDArray[np.int64], layout: PageLayout) -> NDArray[np.int64]:
    """Move points to the page, because PAGE XML has no positions outside of it."""
    import numpy as np  # noqa: PLC0415

    height, width = layout.page_size
    clipped: NDArray[np.int64] = np.clip(np.rint(points).astype(int), 0, (width - 1, height - 1))
    return clipped


def _work(arguments: argparse.Namespace) -> None:
    image = read_page_image(arguments.image, arguments.max_megapixels)
    stage = _load_stage(arguments.config, arguments.threads)
    layout = lay_out(stage, arguments.image, image)
    write_complete(arguments.out, layout.to_pagexml_string().encode())


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ocr-layout` on one page, and return its exit code."""
    parser = Parser(prog="ocr-layout", description="Find the regions and lines of a scanned page.")
    parser.add_argument("image", type=Path, help="Image of the scanned page")
    add_stage_options(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="PAGE XML file to write"
    )
    return run_command(parser, _work, argv)


def command() -> None:
    """Run `ocr-layout` once, or as a warm worker."""
    serve(main)
