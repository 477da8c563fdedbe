"""`spd-verify` checks that a frame's events are consistent, and makes monitoring histograms."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sluice.packs.programs import BadData, Parser, run_command
from spd.blocks import EventBlock, read_events, write_events
from spd.detector import is_known_channel
from spd.histograms import monitor, write_monitoring
from spd.quantities import calorimeter_energy, event_indices, track_multiplicity


def verify(block: EventBlock, source: Path) -> None:
    """Check counts, order, ranges, quantities and cuts of `block`.

    Raises:
        BadData: `block` is wrong; the error has the first finding and names `source`.
    """
    for check in _CHECKS:
        reason = check(block)
        if reason is not None:
            raise BadData(source, reason)


def _check_counts(block: EventBlock) -> str | None:
    info, events = block.info, len(block.number)
    columns = {"multiplicity": len(block.multiplicity), "energy_mev": len(block.energy_mev)}
    for name, length in columns.items():
        if length != events:
            return f"{length} values of {name} for {events} events"
    if (
        len(block.offsets) != events + 1
        or block.offsets[0] != 0
        or block.offsets[-1] != len(block.hits)
    ):
        return f"the offsets do not divide {len(block.hits)} hits among {events} events"
    if info.events_kept != events:
        return f"{events} events, but the frame is said to have kept {info.events_kept}"
    if not 0 <= events <= info.events_built:
        return f"{events} events kept of {info.events_built} found"
    if len(block.hits) > info.hits_read:
        return f"{len(block.hits)} hits in events, but only {info.hits_read} were read"
    return None


def _check_order(block: EventBlock) -> str | None:
    if (block.sizes < 1).any():
        return f"event {_first_event(block, block.sizes < 1)} has no hits"
    for name, values in (("number", block.number), ("time", block.time_ns)):
        steps = np.diff(values, prepend=values[0] - 1) if len(values) else values
        if (steps < 1).any():
            return (
                f"event {_first_event(block, steps < 1)} is out of order: its {name} is not above"
                " that of the one before"
            )
    decreases = np.diff(block.hits["time"].astype(np.int64), prepend=0) < 0
    if decreases.any():
        return f"the hits of event {_hit_event(block, decreases)} are not in the order of time"
    return None


def _check_ranges(block: EventBlock) -> str | None:
    info = block.info
    if len(block.number) and not 0 <= block.number[-1] < info.events_built:
        return f"event {block.number[-1]} is not among the {info.events_built} found"
    is_unknown = ~is_known_channel(block.hits["channel"])
    if is_unknown.any():
        return f"event {_hit_event(block, is_unknown)} has a hit in a channel that does not exist"
    is_late = block.hits["time"] >= info.length_ns
    if is_late.any():
        return (
            f"event {_hit_event(block, is_late)} has a hit outside the frame of {info.length_ns} ns"
        )
    return None


def _check_quantities(block: EventBlock) -> str | None:
    differs = block.multiplicity != track_multiplicity(block.hits, block.offsets)
    if differs.any():
        event = _first_event(block, differs)
        return f"the multiplicity of event {event} does not follow from its hits"
    differs = block.energy_mev != calorimeter_energy(block.hits, block.offsets)
    if differs.any():
        event = _first_event(block, differs)
        return f"the energy of event {event} does not follow from its hits"
    return None


def _check_cuts(block: EventBlock) -> str | None:
    quantities = {
        "min_hits": block.sizes,
        "min_multiplicity": block.multiplicity,
        "min_calorimeter_energy_mev": block.energy_mev,
    }
    for name, values in quantities.items():
        limit = block.info.cuts.get(name)
        if limit is not None and (values < limit).any():
            event = _first_event(block, values < limit)
            return f"event {event} does not pass the cut {name} = {limit}"
    return None


_CHECKS: tuple[Callable[[EventBlock], str | None], ...] = (
    _check_counts,
    _check_order,
    _check_ranges,
    _check_quantities,
    _check_cuts,
)


def _first_event(block: EventBlock, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(block.number[np.flatnonzero(mask)[0]])


def _hit_event(block: EventBlock, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(block.number[event_indices(block.offsets)[np.flatnonzero(mask)[0]]])


def _work(arguments: argparse.Namespace) -> None:
    block = read_events(arguments.events)
    verify(block, arguments.events)
    write_events(arguments.out, block)
    write_monitoring(arguments.histograms, monitor(block))


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-verify` and return its exit code."""
    parser = Parser(
        prog="spd-verify",
        description="Check that the events of one frame are consistent, and make its monitoring"
        " histograms.",
    )
    parser.add_argument("events", type=Path, help="File with events that spd-filter wrote")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="File to write the checked events to, unchanged",
    )
    parser.add_argument(
        "--histograms",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON file to write the histograms to",
    )
    return run_command(parser, _work, argv)
