"""Times of a schedule: five fields as in cron, in a time zone.

A time that the change to summer time skips is replaced by the first time after it. When clocks go
back, a fixed hour counts once, the first time. Schedules with a star as the hour or minute run in
every hour that passes.
"""

from collections.abc import Iterator, Set
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from sluice.text.sentences import lower_first
from sluice.text.visible_text import quoted

#: A time that is longer than clocks are ever put back.
_MAX_CLOCK_CHANGE = timedelta(hours=3)
_FIELDS, _MAX_LENGTH = 5, 500
#: Names of a machine's own zone and of no zone.
_UNUSABLE_ZONES = {"localtime", "Factory"}


class InvalidScheduleError(ValueError):
    """A schedule or zone is wrong. The message is the end of a sentence about it."""


def check_schedule(schedule: str) -> None:
    """Check a schedule.

    Raises:
        InvalidScheduleError: It is wrong.
    """
    if len(schedule) > _MAX_LENGTH:
        raise InvalidScheduleError(f"has {len(schedule)} characters; {_MAX_LENGTH} are enough")
    if len(schedule.split()) != _FIELDS:
        raise InvalidScheduleError(
            "has five fields: minute, hour, day of the month, month, day of the week"
            " ('0 3 * * *': at 3:00 each day)"
        )
    try:
        CronSim(schedule, datetime.now(UTC))
    except CronSimError as error:
        raise InvalidScheduleError(f"is wrong: {lower_first(str(error))}") from error


def check_zone(zone: str) -> None:
    """Check the name of a time zone.

    Raises:
        InvalidScheduleError: There is no such zone.
    """
    if zone not in _zones():
        raise InvalidScheduleError(
            f"{quoted(zone)} is not a time zone: write it as in Europe/Warsaw, or UTC"
        )


@cache
def _zones() -> Set[str]:
    return available_timezones() - _UNUSABLE_ZONES


def next_time(schedule: str, zone: str, *, after: datetime) -> datetime | None:
    """Return the first time after ``after`` in UTC, or None if there is none in fifty years."""
    return next(
        (time for time in _times(schedule, zone, after, reverse=False) if time > after), None
    )


def last_time(schedule: str, zone: str, *, after: datetime, until: datetime) -> datetime | None:
    """Return the last time after ``after`` and not after ``until`` in UTC, or None."""
    for time in _times(schedule, zone, until + _MAX_CLOCK_CHANGE, reverse=True):
        if time <= after:
            return None
        if time <= until:
            return time
    return None


def _times(schedule: str, zone: str, start: datetime, *, reverse: bool) -> Iterator[datetime]:
    """Yield the times in order. In hours that come twice, a time may be repeated."""
    try:
        for time in CronSim(schedule, start.astimezone(ZoneInfo(zone)), reverse=reverse):
            yield time.astimezone(UTC)
    except CronSimError:  # the day and month never occur together
        return
