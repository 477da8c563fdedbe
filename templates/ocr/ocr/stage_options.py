"""The options of the tools that use a configuration."""

from __future__ import annotations

from pathlib import Path

from pack_command import Parser, finite, positive

from ocr.images import MAX_MEGAPIXELS


def add_stage_options(parser: Parser) -> None:
    """Add `--config`, `--threads` and `--max-megapixels`."""
    parser.add_argument(
        "--config",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder with config.ini and the models that it names",
    )
    parser.add_argument(
        "--threads", type=positive, default=1, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--max-megapixels",
        type=finite,
        default=MAX_MEGAPIXELS,
        metavar="N",
        help="larger images are refused; default: %(default)g",
    )
