"""Counts of tools: valid counts, sums, and their use in conditions."""

from typing import Any

import pytest

from sluice.contracts.data.counts import (
    COUNTS,
    MAX_NAMES,
    MAX_SUM,
    InvalidCounts,
    add_counts,
    counts_in,
    produced_facts,
    produced_texts,
    require_counts,
)

MAX_COUNT = 2**53 - 1


def test_names_with_whole_numbers_are_counts() -> None:
    assert require_counts({"events": 0, "tracks_2": MAX_COUNT}) == {
        "events": 0,
        "tracks_2": MAX_COUNT,
    }
    assert counts_in({COUNTS: {"events": 3}, "run": 7}) == {"events": 3}
    assert counts_in({"run": 7}) == {}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"events": -1}, "sluice:counts events: input should be greater than or equal to 0"),
        ({"events": MAX_COUNT + 1}, "sluice:counts events: input should be less than"),
        ({"events": 1.5}, "sluice:counts events: input should be a valid integer"),
        ({"events": True}, "sluice:counts events: input should be a valid integer"),
        ({"events": "7"}, "sluice:counts events: input should be a valid integer"),
        ({"events seen": 1}, "sluice:counts events seen: 'events seen' has ' '"),
        ({"n" * 41: 1}, "has 41 characters: its name has at most 40"),
        ({f"n{number}": 1 for number in range(17)}, "should have at most 16 items"),
        ([1], "sluice:counts: input should be a valid dictionary"),
        ({"bytes": 1}, "sluice:counts bytes: the system counts bytes and files itself"),
    ],
)
def test_invalid_counts_are_refused_and_never_added(value: Any, why: str) -> None:
    with pytest.raises(InvalidCounts) as refusal:
        require_counts(value)
    assert why in str(refusal.value)
    assert counts_in({COUNTS: value}) == {}


def test_counts_are_added_up_for_a_limited_number_of_names() -> None:
    """A name beyond the limit is not counted, then or later."""
    full = add_counts({}, {f"n{number}": 1 for number in range(MAX_NAMES)})
    assert add_counts(full, {"late": 5, "n0": 2}) == {**full, "n0": 3}
    assert add_counts({"events": MAX_COUNT}, {"events": MAX_COUNT}) == {"events": 2 * MAX_COUNT}


def test_sum_stops_at_the_largest_number_and_says_so() -> None:
    total = add_counts(
        {"events": MAX_SUM - 1, "tracks": 2**64 - 1}, {"events": MAX_COUNT, "tracks": 0, "pages": 1}
    )
    assert total == {"events": MAX_SUM, "tracks": MAX_SUM, "pages": 1}
    assert produced_texts({"produced": total}) == [
        f"at least {MAX_SUM} events",
        "1 pages",
        f"at least {MAX_SUM} tracks",
    ]
    assert produced_texts({"produced": {"events": MAX_SUM - 1}}) == [f"{MAX_SUM - 1} events"]


def test_produced_counts_are_visible_to_conditions_and_people() -> None:
    meta = {"produced": {"files": 2, "bytes": 9, "events": 41}}
    assert produced_facts(meta) == {"produced.files": 2, "produced.bytes": 9, "produced.events": 41}
    assert produced_texts(meta) == ["41 events"]
    assert (produced_facts({"produced": "much"}), produced_texts({})) == ({}, [])


@pytest.mark.parametrize("else_called_so", ["a lot", 7, ["events"], None])
def test_metadata_that_only_resemble_counts_are_ignored(
    else_called_so: Any,
) -> None:
    meta = {"produced": else_called_so}
    assert (produced_facts(meta), produced_texts(meta)) == ({}, [])
