"""Event building and filtering, compared with the simulated truth."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spd.blocks import EventBlock, FrameInfo, HitBlock
from spd.build_events import build_events
from spd.daq import start_time
from spd.decode import decode
from spd.detector import HIT
from spd.filter_events import filter_events
from spd.frame import FrameHeader, encode_frame
from spd.simulation import Conditions, TrueEvents, simulate_frame
from spd.timing import EVENT_WINDOW_NS, GUARD_NS, MAX_NOISE_GROUP, MIN_EVENT_DISTANCE_NS

SOURCE = Path("frame.raw")

frame_conditions = st.builds(
    Conditions,
    events=st.floats(0.1, 120),
    distance_ns=st.integers(MIN_EVENT_DISTANCE_NS, 3_000),
    hard_share=st.floats(0, 1),
    event_noise=st.floats(0, 20),
    gap_noise=st.floats(0, 20),
)


def read_out(seed: int, conditions: Conditions) -> tuple[HitBlock, TrueEvents]:
    """Simulate a frame and decode its raw bytes."""
    hits, truth = simulate_frame(seed, 1, 1, conditions)
    header = FrameHeader(1, 1, "p", start_time(1, 1, conditions), conditions.length_ns)
    return decode(encode_frame(header, hits), SOURCE), truth


def list_rows(block: EventBlock) -> list[tuple[int, int, float, int]]:
    columns = (block.time_ns, block.multiplicity, block.energy_mev, block.sizes)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def list_true_rows(truth: TrueEvents) -> list[tuple[int, int, float, int]]:
    columns = (truth.time_ns, truth.multiplicity, truth.energy_mev, truth.hits)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(deadline=None)
@given(
    seed=st.integers(0, 2**63),
    conditions=frame_conditions,
    time_gap_ns=st.integers(EVENT_WINDOW_NS, GUARD_NS),
    min_hits=st.integers(MAX_NOISE_GROUP + 1, 8),
)
def test_built_events_equal_the_true_events(
    seed: int, conditions: Conditions, time_gap_ns: int, min_hits: int
) -> None:
    block, truth = read_out(seed, conditions)
    built = build_events(block, time_gap_ns=time_gap_ns, min_hits=min_hits)
    assert list_rows(built) == list_true_rows(truth)
    assert built.info.events_built == len(truth.time_ns)


@pytest.mark.parametrize(("distance", "sizes"), [(110, [6]), (111, [3, 3])])
def test_hits_at_exactly_the_time_gap_are_joined(distance: int, sizes: list[int]) -> None:
    hits = np.zeros(6, dtype=HIT)
    hits["channel"] = 2 << 24
    hits["time"] = [0, 1, 2, 2 + distance, 3 + distance, 4 + distance]
    block = HitBlock(FrameInfo(1, 1, "", 0, 1_000, hits_read=6), hits)
    assert build_events(block, time_gap_ns=110, min_hits=3).sizes.tolist() == sizes


def test_unsuitable_time_gap_joins_or_splits_events() -> None:
    block, truth = read_out(3, Conditions(gap_noise=4))
    assert len(build_events(block, time_gap_ns=400, min_hits=6).number) < len(truth.time_ns)
    assert list_rows(build_events(block, time_gap_ns=3, min_hits=6)) != list_true_rows(truth)


def test_too_low_minimum_of_hits_accepts_noise_as_events() -> None:
    block, truth = read_out(3, Conditions(gap_noise=4))
    assert len(build_events(block, time_gap_ns=110, min_hits=MAX_NOISE_GROUP).number) > len(
        truth.time_ns
    )


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 2**32),
    conditions=frame_conditions,
    tracks=st.integers(0, 12),
    energy=st.floats(0, 5_000),
)
def test_filter_keeps_exactly_the_true_events_above_the_cuts(
    seed: int, conditions: Conditions, tracks: int, energy: float
) -> None:
    block, truth = read_out(seed, conditions)
    built = build_events(block, time_gap_ns=110, min_hits=6)
    filtered_events = filter_events(built, min_multiplicity=tracks, min_calorimeter_energy=energy)
    expected = [
        (number, *row)
        for number, row in enumerate(list_true_rows(truth))
        if row[1] >= tracks and row[2] >= energy
    ]
    assert [
        (number, *row)
        for number, row in zip(
            filtered_events.number.tolist(), list_rows(filtered_events), strict=True
        )
    ] == expected
    assert filtered_events.info.events_kept == len(expected)
    assert filtered_events.info.events_built == len(truth.time_ns)


def test_event_at_exactly_the_cut_is_kept() -> None:
    built = build_events(read_out(5, Conditions())[0], time_gap_ns=110, min_hits=6)
    energy = float(np.sort(built.energy_mev)[-1])
    filtered_events = filter_events(built, min_multiplicity=0, min_calorimeter_energy=energy)
    assert filtered_events.energy_mev.tolist() == [energy]


def test_empty_frame_gives_no_events() -> None:
    hits, _ = simulate_frame(1, 1, 1, Conditions())
    empty = encode_frame(FrameHeader(1, 1, "", 0, 1_000), hits[:0])
    built = build_events(decode(empty, SOURCE), time_gap_ns=110, min_hits=6)
    filtered_events = filter_events(built, min_multiplicity=1, min_calorimeter_energy=0)
    assert (len(filtered_events.number), filtered_events.offsets.tolist()) == (0, [0])


def test_frames_follow_each_other_without_overlap() -> None:
    conditions = Conditions()
    assert start_time(4, 2, conditions) - start_time(4, 1, conditions) == conditions.length_ns
    for frame in range(1, 30):
        hits, _ = simulate_frame(9, 4, frame, conditions)
        assert int(hits["time"].max()) < conditions.length_ns
