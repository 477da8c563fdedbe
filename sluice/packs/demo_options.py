"""Options of the demonstrations of packs."""

import argparse
from pathlib import Path


def add_demo_options(parser: argparse.ArgumentParser, *, seed_subject: str | None = None) -> None:
    """Add the options that all demonstrations have.

    Args:
        parser: The parser of the demonstration.
        seed_subject: What the seed decides, for the help of `--seed`. By default, there is no such
            option.
    """
    parser.add_argument(
        "--home",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder for all files of the demonstration; its content is deleted first",
    )
    if seed_subject is not None:
        parser.add_argument(
            "--seed", type=int, default=1, help=f"Seed of {seed_subject} (default: %(default)s)"
        )
    parser.add_argument("--keep", action="store_true", help="Leave the system running at the end")
