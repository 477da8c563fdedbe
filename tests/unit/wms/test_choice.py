"""Reservations of jobs for busy pilots."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wms.domain.scheduling.reservations import BusyPilot, JobReservation, find_reservations

QUICK, OTHER = UUID(int=1), UUID(int=2)


def reserve_jobs(
    asking: float, *others: BusyPilot, ready: int = 100, waited: float = 0.0
) -> list[JobReservation]:
    return find_reservations(asking, others, ready=ready, waited_seconds=waited)


def test_job_is_reserved_for_a_busy_pilot_that_finishes_it_first() -> None:
    # The busy pilot is free in 5 s and finishes 10 s later, 40 s before the slow pilot.
    assert reserve_jobs(55.0, BusyPilot(QUICK, 10.0, [5.0]), ready=1) == [
        JobReservation(QUICK, 40.0)
    ]


def test_as_many_jobs_are_reserved_as_finish_earlier() -> None:
    ends = reserve_jobs(50.0, BusyPilot(QUICK, 10.0, [5.0]))
    assert [one.seconds_earlier for one in ends] == [35.0, 25.0, 15.0, 5.0]


def test_reservation_needs_a_gain_beyond_the_uncertainty() -> None:
    assert reserve_jobs(50.0, BusyPilot(QUICK, 10.0, [38.0])) == []
    assert reserve_jobs(1.5, BusyPilot(QUICK, 0.1, [1.0])) == []


def test_slots_of_all_busy_pilots_count_in_order_of_the_gain() -> None:
    ends = reserve_jobs(50.0, BusyPilot(QUICK, 10.0, [5.0, 25.0]), BusyPilot(OTHER, 20.0, [2.0]))
    assert ends == [
        JobReservation(QUICK, 35.0),
        JobReservation(OTHER, 28.0),
        JobReservation(QUICK, 25.0),
        JobReservation(QUICK, 15.0),
        JobReservation(QUICK, 15.0),
        JobReservation(OTHER, 8.0),
        JobReservation(QUICK, 5.0),
        JobReservation(QUICK, 5.0),
    ]


def test_jobs_leased_ahead_delay_the_time_when_a_slot_is_free() -> None:
    free = BusyPilot(QUICK, 10.0, [5.0, 8.0], [10.0, 10.0, 30.0]).seconds_until_free()
    assert sorted(free) == [18.0, 45.0]


def test_equal_pilots_get_no_reservations() -> None:
    assert reserve_jobs(10.0, BusyPilot(QUICK, 10.0, [0.1]), BusyPilot(OTHER, 9.0, [0.1])) == []


def test_pilot_that_stays_busy_for_long_gets_no_reservation() -> None:
    assert reserve_jobs(50.0, BusyPilot(QUICK, 1.0, [60.0])) == []
    assert reserve_jobs(50.0, BusyPilot(QUICK, 1.0, [float("inf")])) == []


def test_reservation_lasts_at_most_as_long_as_the_job_would_take() -> None:
    busy = BusyPilot(QUICK, 1.0, [5.0])
    assert reserve_jobs(50.0, busy, waited=49.0)
    assert reserve_jobs(50.0, busy, waited=51.0) == []


def test_idle_pilot_loses_its_reservation_unless_it_comes_soon() -> None:
    idle, busy = BusyPilot(QUICK, 1.0), BusyPilot(OTHER, 2.0, [1.0])
    assert reserve_jobs(50.0, idle, waited=1.0, ready=1) == [JobReservation(QUICK, 49.0)]
    assert reserve_jobs(50.0, idle, waited=6.0) == []
    assert reserve_jobs(50.0, idle, busy, waited=6.0, ready=1) == [JobReservation(OTHER, 47.0)]


SECONDS = st.floats(0.01, 1000.0)
BUSY = st.builds(
    BusyPilot, st.just(QUICK), SECONDS, st.lists(SECONDS, max_size=4), st.lists(SECONDS, max_size=4)
)


@given(SECONDS, st.lists(BUSY, max_size=4), st.integers(0, 50), st.floats(0, 2000.0))
def test_reservations_bring_a_gain_and_never_exceed_the_ready_jobs(
    asking: float, others: list[BusyPilot], ready: int, waited: float
) -> None:
    ends = reserve_jobs(asking, *others, ready=ready, waited=waited)
    assert len(ends) <= ready
    assert all(0 < one.seconds_earlier < asking for one in ends)
    assert [one.seconds_earlier for one in ends] == sorted(
        (one.seconds_earlier for one in ends), reverse=True
    )
    least = min((other.job_seconds for other in others), default=asking)
    assert not ends or least < asking, "the quickest pilot was kept waiting"


@pytest.mark.parametrize("ready", [1, 2, 3])
def test_reservations_end_when_all_ready_jobs_are_reserved(ready: int) -> None:
    assert len(reserve_jobs(50.0, BusyPilot(QUICK, 0.001, [1.0]), ready=ready)) == ready
