"""`spd-filter` keeps the events with enough tracks and enough energy in the calorimeter."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sluice.packs.programs import Parser, finite, not_negative, run_command
from spd.blocks import EventBlock, read_events, write_events

DEFAULT_MIN_MULTIPLICITY = 4
DEFAULT_MIN_CALORIMETER_ENERGY = 1500.0


def filter_events(
    block: EventBlock, *, min_multiplicity: int, min_calorimeter_energy: float
) -> EventBlock:
    """Return the events that pass both cuts, in their order and with their numbers.

    The energy is in MeV.
    """
    passes_cuts = (block.multiplicity >= min_multiplicity) & (
        block.energy_mev >= min_calorimeter_energy
    )
    sizes = block.sizes
    cuts = {
        "min_multiplicity": min_multiplicity,
        "min_calorimeter_energy_mev": min_calorimeter_energy,
    }
    return EventBlock(
        info=replace(
            block.info, events_kept=int(passes_cuts.sum()), cuts={**block.info.cuts, **cuts}
        ),
        number=block.number[passes_cuts],
        offsets=np.concatenate(([0], np.cumsum(sizes[passes_cuts]))),
        hits=block.hits[np.repeat(passes_cuts, sizes)],
        multiplicity=block.multiplicity[passes_cuts],
        energy_mev=block.energy_mev[passes_cuts],
    )


def _work(arguments: argparse.Namespace) -> None:
    selected_events = filter_events(
        read_events(arguments.events),
        min_multiplicity=arguments.min_multiplicity,
        min_calorimeter_energy=arguments.min_calorimeter_energy,
    )
    write_events(arguments.out, selected_events)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-filter` and return its exit code."""
    parser = Parser(
        prog="spd-filter",
        description="Select the events of one frame with enough tracks and enough energy in the"
        " calorimeter.",
    )
    parser.add_argument("events", type=Path, help="File with events that spd-build-events wrote")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="File to write the selected events to",
    )
    parser.add_argument(
        "--min-multiplicity",
        type=not_negative,
        default=DEFAULT_MIN_MULTIPLICITY,
        metavar="TRACKS",
        help="Minimum number of tracks of a selected event (default: %(default)s)",
    )
    parser.add_argument(
        "--min-calorimeter-energy",
        type=finite,
        default=DEFAULT_MIN_CALORIMETER_ENERGY,
        metavar="MEV",
        help="Minimum calorimeter energy of a selected event in MeV (default: %(default)g)",
    )
    return run_command(parser, _work, argv)
