"""The options of the tools that use a configuration."""

from pathlib import Path

from ocr.images import MAX_MEGAPIXELS
from sluice.packs.programs import Parser, finite, positive


def add_stage_options(parser: Parser) -> None:
    """Add `--config`, `--threads` and `--max-megapixels`."""
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder with config.ini and the models that it names",
    )
    parser.add_argument(
        "--threads",
        type=positive,
        default=1,
        metavar="N",
        help="Number of processor threads to use (default: %(default)s)",
    )
    parser.add_argument(
        "--max-megapixels",
        type=finite,
        default=MAX_MEGAPIXELS,
        metavar="MEGAPIXELS",
        help="Refuse images with more than this many million pixels before they are decoded"
        " (default: %(default)g)",
    )
