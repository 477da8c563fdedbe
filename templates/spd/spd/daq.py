"""`spd-daq` writes the raw frames of a simulated run, and the truth to a separate file."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sluice.packs.programs import (
    Parser,
    UsageError,
    finite,
    not_negative,
    positive,
    run_command,
    write_complete,
)
from spd.frame import FrameHeader, encode_frame, period_bytes
from spd.simulation import Conditions, simulate_frame
from spd.truth import frame_truth, write_truth

DEFAULT_PERIOD = "2026-A"
FIRST_RUN_NS = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z
RUN_NS = 3_600_000_000_000
MAX_NUMBER = 999_999


def frame_name(run: int, frame: int) -> str:
    """Return the file name of a raw frame. Names sort by run and frame."""
    return f"run{run:06d}-frame{frame:06d}.raw"


def start_time(run: int, frame: int, conditions: Conditions) -> int:
    """Return the start of a frame in ns since 1970 UTC.

    A run starts every hour. Its frames, numbered from 1, follow each other without gaps.
    """
    return FIRST_RUN_NS + run * RUN_NS + (frame - 1) * conditions.length_ns


def damage(content: bytes) -> bytes:
    """Invert four bytes in the middle of a frame, as a bad link would."""
    middle = len(content) // 2
    flipped = bytes(byte ^ 0xFF for byte in content[middle : middle + 4])
    return content[:middle] + flipped + content[middle + 4 :]


def _work(arguments: argparse.Namespace) -> None:
    run, period = arguments.run, arguments.period
    out: Path = arguments.out
    truth_file: Path = arguments.truth or out.with_name(f"{out.name}-truth") / f"run{run:06d}.json"
    _check(arguments, truth_file)
    conditions = Conditions(events=arguments.events_per_frame)
    out.mkdir(parents=True, exist_ok=True)
    truth_file.parent.mkdir(parents=True, exist_ok=True)
    frames: list[dict[str, Any]] = []
    for frame in range(1, arguments.frames + 1):
        hits, events = simulate_frame(arguments.seed, run, frame, conditions)
        start = start_time(run, frame, conditions)
        content = encode_frame(FrameHeader(run, frame, period, start, conditions.length_ns), hits)
        write_complete(
            out / frame_name(run, frame), damage(content) if frame in arguments.damage else content
        )
        frames.append(frame_truth(frame, start, len(hits), events))
    damaged = sorted(set(arguments.damage))
    metadata = {"run": run, "period": period, "seed": arguments.seed, "damaged_frames": damaged}
    write_truth(truth_file, {**metadata, "frames": frames})
    print(f"run {run}: {arguments.frames} frames in {out}, truth in {truth_file}")


def _check(arguments: argparse.Namespace, truth_file: Path) -> None:
    period_bytes(arguments.period)
    if max(arguments.run, arguments.frames) > MAX_NUMBER:
        raise UsageError(f"run and frame numbers go up to {MAX_NUMBER}")
    missing = [frame for frame in arguments.damage if frame > arguments.frames]
    if missing:
        raise UsageError(
            f"frame {missing[0]} cannot be damaged: the run has frames 1 to {arguments.frames}"
        )
    if not 0 < arguments.events_per_frame <= 100_000:
        raise UsageError("--events-per-frame must be above 0 and at most 100000")
    if truth_file.resolve().is_relative_to(arguments.out.resolve()):
        raise UsageError(
            f"the truth must not be among the frames: {truth_file} is inside {arguments.out}"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-daq` and return its exit code."""
    parser = Parser(
        prog="spd-daq",
        description="Simulate a run of a detector: write raw frames, and the true events to a"
        " separate file.",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="Folder to write the frames to"
    )
    parser.add_argument(
        "--run", type=not_negative, required=True, metavar="N", help="Number of the run"
    )
    parser.add_argument(
        "--frames", type=positive, required=True, metavar="N", help="Number of frames to write"
    )
    parser.add_argument(
        "--seed",
        type=not_negative,
        required=True,
        help="Seed of the random events; equal seeds give equal files",
    )
    parser.add_argument(
        "--period",
        default=DEFAULT_PERIOD,
        metavar="NAME",
        help="Period of data taking, at most 16 ASCII characters (default: %(default)s)",
    )
    parser.add_argument(
        "--events-per-frame",
        type=finite,
        default=100.0,
        metavar="N",
        help="Mean number of events in a frame, above 0 and at most 100000 (default: %(default)g)",
    )
    parser.add_argument(
        "--damage",
        type=positive,
        action="append",
        default=[],
        metavar="FRAME",
        help="Damage this frame, numbered from 1; repeatable (default: no damage)",
    )
    parser.add_argument(
        "--truth",
        type=Path,
        metavar="FILE",
        help="JSON file to write the true events to (default: FOLDER-truth/runNNNNNN.json, with"
        " FOLDER from --out and the number of the run)",
    )
    return run_command(parser, _work, argv)
