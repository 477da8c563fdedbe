"""Times of schedules, also on days with a change of the clock."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.scheduling.schedules import (
    InvalidScheduleError,
    check_schedule,
    check_zone,
    last_time,
    next_time,
)

WARSAW = "Europe/Warsaw"


def parse_utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def list_times(schedule: str, start: str, end: str, zone: str = WARSAW) -> list[str]:
    due_times, time = [], next_time(schedule, zone, after=parse_utc(start))
    while time is not None and time <= parse_utc(end):
        due_times.append(f"{time:%d %H:%M}")
        time = next_time(schedule, zone, after=time)
    return due_times


def test_schedule_follows_the_clock_of_its_zone() -> None:
    assert list_times("0 3 * * *", "2026-03-27", "2026-03-31") == [
        "27 02:00",
        "28 02:00",
        "29 01:00",
        "30 01:00",
    ]
    assert list_times("0 3 * * *", "2026-03-27", "2026-03-29", "UTC") == ["27 03:00", "28 03:00"]


def test_skipped_hour_runs_at_the_next_existing_time() -> None:
    assert list_times("30 2 * * *", "2026-03-28", "2026-03-31") == [
        "28 01:30",
        "29 01:00",
        "30 00:30",
    ]


def test_repeated_hour_runs_only_the_first_time() -> None:
    assert list_times("30 2 * * *", "2026-10-24", "2026-10-27") == [
        "24 00:30",
        "25 00:30",
        "26 01:30",
    ]


def test_hourly_schedule_runs_in_both_repeated_hours() -> None:
    got = list_times("0 * * * *", "2026-10-24T23:30", "2026-10-25T02:30")
    assert got == ["25 00:00", "25 01:00", "25 02:00"]


def test_schedule_does_not_run_again_within_the_repeated_hour() -> None:
    again = parse_utc("2026-10-25T01:10")
    assert next_time("30 2 * * *", WARSAW, after=again) == parse_utc("2026-10-26T01:30")
    before = parse_utc("2026-10-25T00:00")
    assert last_time("30 2 * * *", WARSAW, after=before, until=again) == parse_utc(
        "2026-10-25T00:30"
    )


@given(
    st.sampled_from(["30 2 * * *", "0 * * * *", "*/15 * * * *", "15 1-3 * * *", "0 3 * * 0"]),
    st.sampled_from([WARSAW, "America/New_York", "Australia/Lord_Howe", "UTC"]),
    st.sampled_from(["2026-03-07", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-24"]),
    st.integers(0, 3 * 1440),
    st.integers(0, 2 * 1440),
)
def test_last_time_equals_the_last_of_all_next_times(
    schedule: str, zone: str, day: str, minutes: int, longer: int
) -> None:
    after = parse_utc(day) + timedelta(minutes=minutes)
    until = after + timedelta(minutes=longer)
    last, time = None, next_time(schedule, zone, after=after)
    while time is not None and time <= until:
        last, time = time, next_time(schedule, zone, after=time)
    assert last_time(schedule, zone, after=after, until=until) == last


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        ("@daily", "has five fields"),
        ("0 0 3 * * *", "has five fields"),
        ("61 3 * * *", "is wrong: bad minute"),
        ("0 25 * * *", "is wrong: bad hour"),
        ("0 0 31 2 *", "is wrong: bad day-of-month"),
        ("x y z a b", "is wrong"),
        (f"{'1' * 5000} 3 * * *", "has 5008 characters; 500 are enough"),
        (f"{'1,' * 50_000}1 3 * * *", "500 are enough"),
    ],
)
def test_wrong_schedule_is_refused_with_a_reason(schedule: str, reason: str) -> None:
    with pytest.raises(InvalidScheduleError, match=reason):
        check_schedule(schedule)


@pytest.mark.parametrize(
    "zone",
    [
        "Europe/Warsw",
        "",
        "../etc/passwd",
        "/etc/localtime",
        "a\0b",
        "localtime",
        "right/UTC",
        "Factory",
    ],
)
def test_invalid_time_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidScheduleError, match="is not a time zone"):
        check_zone(zone)
