"""`spd-verify` finds all defects of a block of events."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from spd.blocks import EventBlock
from spd.build_events import build_events
from spd.decode import decode
from spd.filter_events import filter_events
from spd.frame import FrameHeader, encode_frame
from spd.histograms import monitor
from spd.simulation import Conditions, simulate_frame
from spd.verify import verify

from sluice.packs.programs import BadData

SOURCE = Path("frame.selected")


def make_good_block() -> EventBlock:
    hits, _ = simulate_frame(11, 1, 1, Conditions())
    raw = encode_frame(FrameHeader(1, 1, "p", 0, Conditions().length_ns), hits)
    built = build_events(decode(raw, SOURCE), time_gap_ns=110, min_hits=6)
    return filter_events(built, min_multiplicity=3, min_calorimeter_energy=500)


def add_hit(block: EventBlock, field: str, value: int) -> EventBlock:
    hits = block.hits.copy()
    hits[field][-1] = value
    return replace(block, hits=hits)


def double_calorimeter(block: EventBlock) -> EventBlock:
    return replace(block, energy_mev=block.energy_mev * 2)


DEFECTS: list[tuple[str, Callable[[EventBlock], EventBlock]]] = [
    ("values of multiplicity for", lambda b: replace(b, multiplicity=b.multiplicity[1:])),
    ("values of energy_mev for", lambda b: replace(b, energy_mev=b.energy_mev[1:])),
    ("offsets do not divide", lambda b: replace(b, hits=b.hits[1:])),
    ("offsets do not divide", lambda b: replace(b, offsets=b.offsets[1:])),
    ("said to have kept 1$", lambda b: replace(b, info=replace(b.info, events_kept=1))),
    ("events kept of 2 found", lambda b: replace(b, info=replace(b.info, events_built=2))),
    ("only 7 were read", lambda b: replace(b, info=replace(b.info, hits_read=7))),
    ("has no hits", lambda b: replace(b, offsets=np.concatenate(([0, 0], b.offsets[2:])))),
    ("out of order: its number", lambda b: replace(b, number=b.number[::-1])),
    ("is not among the", lambda b: replace(b, number=b.number + 10_000)),
    ("are not in the order of time", lambda b: add_hit(b, "time", 0)),
    ("outside the frame", lambda b: add_hit(b, "time", 10**9)),
    ("a channel that does not exist", lambda b: add_hit(b, "channel", 77 << 24)),
    ("multiplicity of event", lambda b: replace(b, multiplicity=b.multiplicity + 1)),
    ("energy of event", double_calorimeter),
    (
        "does not pass the cut min_multiplicity = 90",
        lambda b: replace(b, info=replace(b.info, cuts={"min_multiplicity": 90})),
    ),
]


def test_block_made_by_the_steps_is_valid() -> None:
    block = make_good_block()
    assert len(block.number) > 5
    verify(block, SOURCE)


@pytest.mark.parametrize(("reason", "spoil"), DEFECTS)
def test_each_defect_is_found_and_named(
    reason: str, spoil: Callable[[EventBlock], EventBlock]
) -> None:
    with pytest.raises(BadData, match=reason):
        verify(spoil(make_good_block()), SOURCE)


def test_events_out_of_time_order_are_found() -> None:
    block = make_good_block()
    size = int(block.sizes[0])
    hits = np.concatenate((block.hits[size:], block.hits[:size]))
    order = np.roll(np.arange(len(block.number)), -1)
    swapped = replace(
        block,
        hits=hits,
        offsets=np.concatenate(([0], np.cumsum(block.sizes[order]))),
        multiplicity=block.multiplicity[order],
        energy_mev=block.energy_mev[order],
    )
    with pytest.raises(BadData, match="out of order: its time"):
        verify(swapped, SOURCE)


def test_histograms_count_each_event_and_hit() -> None:
    block = make_good_block()
    monitoring = monitor(block)
    totals = {
        name: sum(one["counts"]) + one["underflow"] + one["overflow"]
        for name, one in monitoring["histograms"].items()
    }
    for name in ("multiplicity", "calorimeter_energy", "event_hits"):
        assert totals[name] == len(block.number)
    assert totals["hit_time"] == len(block.hits)
    assert sum(total for name, total in totals.items() if name.startswith("occupancy")) == len(
        block.hits
    )
    assert all(
        len(one["edges"]) == len(one["counts"]) + 1 for one in monitoring["histograms"].values()
    )
    assert monitoring["frames"][0]["events_kept"] == len(block.number)
