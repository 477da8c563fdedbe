"""`spd-decode` decodes a raw frame into hits sorted by time.

A damaged frame is refused with exit code 65.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sluice.packs.programs import BadData, Parser, not_negative, read_input, run_command
from spd.blocks import FrameInfo, HitBlock, write_hits
from spd.frame import FrameHeader, decode_frame


def decode(
    content: bytes, source: Path, *, run: int | None = None, period: str | None = None
) -> HitBlock:
    """Return the hits of a raw frame, sorted by time.

    `run` and `period` are the metadata of the data set and must agree with the header. `period` is
    used if the header has none.

    Raises:
        BadData: The frame is damaged or does not agree; the error names `source`.
    """
    header, hits = decode_frame(content, source)
    _compare(header, source, run=run, period=period)
    order = np.lexsort((hits["amplitude"], hits["channel"], hits["time"]))
    info = FrameInfo(
        run=header.run,
        frame=header.frame,
        period=header.period or period or "",
        start_time_ns=header.start_time_ns,
        length_ns=header.length_ns,
        hits_read=len(hits),
    )
    return HitBlock(info, hits[order])


def _compare(header: FrameHeader, source: Path, *, run: int | None, period: str | None) -> None:
    if run is not None and run != header.run:
        raise BadData(
            source, f"the frame is of run {header.run}, but its data set is said to be of run {run}"
        )
    if period and header.period and period != header.period:
        raise BadData(
            source,
            f"the frame is of period {header.period}, but its data set is said to be of {period}",
        )


def _work(arguments: argparse.Namespace) -> None:
    content = read_input(arguments.raw)
    write_hits(
        arguments.out, decode(content, arguments.raw, run=arguments.run, period=arguments.period)
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-decode` and return its exit code."""
    parser = Parser(prog="spd-decode", description="Decode one raw frame into hits sorted by time.")
    parser.add_argument("raw", type=Path, help="Raw frame to decode")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="File to write the hits to"
    )
    parser.add_argument(
        "--run",
        type=not_negative,
        metavar="N",
        help="Refuse a frame of another run than N (default: accept any run)",
    )
    parser.add_argument(
        "--period",
        metavar="NAME",
        help="Refuse a frame of another period than NAME; a frame without a period gets this one"
        " (default: accept any period)",
    )
    return run_command(parser, _work, argv)
