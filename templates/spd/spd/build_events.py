"""`spd-build-events` finds events in the stream of hits by gaps in time."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sluice.packs.programs import Parser, positive, run_command
from spd.blocks import EventBlock, HitBlock, read_hits, write_events
from spd.quantities import calorimeter_energy, track_multiplicity

DEFAULT_TIME_GAP_NS = 110
DEFAULT_MIN_HITS = 6


def build_events(block: HitBlock, *, time_gap_ns: int, min_hits: int) -> EventBlock:
    """Cut the sorted hits where two neighbours are more than `time_gap_ns` apart.

    Pieces of at least `min_hits` hits are events. Smaller pieces are noise and are dropped.
    """
    times = block.hits["time"].astype(np.int64)
    starts = np.flatnonzero(np.diff(times, prepend=-time_gap_ns - 1) > time_gap_ns)
    sizes = np.diff(np.append(starts, len(times)))
    is_event = sizes >= min_hits
    hits = block.hits[np.repeat(is_event, sizes)]
    offsets = np.concatenate(([0], np.cumsum(sizes[is_event])))
    cuts = {"time_gap_ns": time_gap_ns, "min_hits": min_hits}
    event_count = int(is_event.sum())
    return EventBlock(
        info=replace(
            block.info,
            events_built=event_count,
            events_kept=event_count,
            cuts={**block.info.cuts, **cuts},
        ),
        number=np.arange(event_count),
        offsets=offsets,
        hits=hits,
        multiplicity=track_multiplicity(hits, offsets),
        energy_mev=calorimeter_energy(hits, offsets),
    )


def _work(arguments: argparse.Namespace) -> None:
    block = read_hits(arguments.hits)
    built = build_events(block, time_gap_ns=arguments.time_gap_ns, min_hits=arguments.min_hits)
    write_events(arguments.out, built)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-build-events` and return its exit code."""
    parser = Parser(
        prog="spd-build-events", description="Find the events in the hits of one frame."
    )
    parser.add_argument("hits", type=Path, help="File with hits that spd-decode wrote")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="File to write the events to"
    )
    parser.add_argument(
        "--time-gap-ns",
        type=positive,
        default=DEFAULT_TIME_GAP_NS,
        metavar="NS",
        help="Longest pause between two hits of an event in nanoseconds; a longer pause separates"
        " events (default: %(default)s)",
    )
    parser.add_argument(
        "--min-hits",
        type=positive,
        default=DEFAULT_MIN_HITS,
        metavar="HITS",
        help="Minimum number of hits of an event; smaller groups are dropped as noise"
        " (default: %(default)s)",
    )
    return run_command(parser, _work, argv)
