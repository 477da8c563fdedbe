"""Which jobs are kept for busy workers: times that can be reckoned by hand."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wms.domain.choice import BusyPilot, JobReservation, reserved_for

QUICK, OTHER = UUID(int=1), UUID(int=2)


def kept(
    asking: float, *others: BusyPilot, ready: int = 100, waited: float = 0.0
) -> list[JobReservation]:
    return reserved_for(asking, others, ready=ready, waited=waited)


def test_a_job_waits_for_a_busy_worker_that_ends_it_first() -> None:
    # Free in 5 s, done 10 s later: 40 s before the slow one.
    assert kept(55.0, BusyPilot(QUICK, 10.0, [5.0]), ready=1) == [JobReservation(QUICK, 40.0)]


def test_as_many_are_kept_as_are_done_in_time() -> None:
    ends = kept(50.0, BusyPilot(QUICK, 10.0, [5.0]))
    assert [one.sooner for one in ends] == [35.0, 25.0, 15.0, 5.0]


def test_it_has_to_be_sooner_by_more_than_is_known() -> None:
    assert kept(50.0, BusyPilot(QUICK, 10.0, [38.0])) == []
    assert kept(1.5, BusyPilot(QUICK, 0.1, [1.0])) == []


def test_all_places_of_all_workers_count_the_soonest_first() -> None:
    ends = kept(50.0, BusyPilot(QUICK, 10.0, [5.0, 25.0]), BusyPilot(OTHER, 20.0, [2.0]))
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


def test_what_a_worker_holds_ahead_goes_first() -> None:
    free = BusyPilot(QUICK, 10.0, [5.0, 8.0], [10.0, 10.0, 30.0]).free_after()
    assert sorted(free) == [18.0, 45.0]


def test_equal_workers_keep_nothing_from_each_other() -> None:
    assert kept(10.0, BusyPilot(QUICK, 10.0, [0.1]), BusyPilot(OTHER, 9.0, [0.1])) == []


def test_one_that_is_busy_for_long_is_not_waited_for() -> None:
    assert kept(50.0, BusyPilot(QUICK, 1.0, [60.0])) == []
    assert kept(50.0, BusyPilot(QUICK, 1.0, [float("inf")])) == []


def test_nothing_is_kept_for_longer_than_it_would_have_taken() -> None:
    busy = BusyPilot(QUICK, 1.0, [5.0])
    assert kept(50.0, busy, waited=49.0)
    assert kept(50.0, busy, waited=51.0) == []


def test_one_that_has_nothing_to_do_has_to_come_soon() -> None:
    idle, busy = BusyPilot(QUICK, 1.0), BusyPilot(OTHER, 2.0, [1.0])
    assert kept(50.0, idle, waited=1.0, ready=1) == [JobReservation(QUICK, 49.0)]
    assert kept(50.0, idle, waited=6.0) == []
    assert kept(50.0, idle, busy, waited=6.0, ready=1) == [JobReservation(OTHER, 47.0)]


SECONDS = st.floats(0.01, 1000.0)
BUSY = st.builds(
    BusyPilot, st.just(QUICK), SECONDS, st.lists(SECONDS, max_size=4), st.lists(SECONDS, max_size=4)
)


@given(SECONDS, st.lists(BUSY, max_size=4), st.integers(0, 50), st.floats(0, 2000.0))
def test_what_is_kept_is_sooner_and_never_more_than_there_is(
    asking: float, others: list[BusyPilot], ready: int, waited: float
) -> None:
    ends = kept(asking, *others, ready=ready, waited=waited)
    assert len(ends) <= ready
    assert all(0 < one.sooner < asking for one in ends)
    assert [one.sooner for one in ends] == sorted((one.sooner for one in ends), reverse=True)
    least = min((other.takes for other in others), default=asking)
    assert not ends or least < asking, "the quickest is never kept waiting"


@pytest.mark.parametrize("ready", [1, 2, 3])
def test_it_ends_when_all_are_kept(ready: int) -> None:
    assert len(kept(50.0, BusyPilot(QUICK, 0.001, [1.0]), ready=ready)) == ready
