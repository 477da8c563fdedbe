"""`spd-merge-monitoring` adds the histograms of many frames."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from sluice.packs.programs import Parser, run_command
from spd.histograms import merge_monitoring, read_monitoring, write_monitoring


def _work(arguments: argparse.Namespace) -> None:
    parts = ((path, read_monitoring(path)) for path in arguments.parts)
    write_monitoring(arguments.out, merge_monitoring(parts))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-merge-monitoring` and return its exit code."""
    parser = Parser(
        prog="spd-merge-monitoring", description="Add up the monitoring histograms of many frames."
    )
    parser.add_argument(
        "parts",
        type=Path,
        nargs="+",
        help="Histogram files that spd-verify wrote, in the order of their frames",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="JSON file to write the sums to"
    )
    return run_command(parser, _work, argv)
