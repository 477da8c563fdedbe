"""Times of a schedule: five fields, as of cron, in a time zone.

Where clocks are put forward, what was to begin at a time that the day has not begins at the first
one after; where they are put back, what begins at a fixed hour does so once, the first time. What
begins each hour, or each so many minutes (a star in the field), does so in every hour that passes.
"""

from collections.abc import Iterator, Set
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from sluice.visible_text import quoted

#: More than clocks are put back.
_PUT_BACK = timedelta(hours=3)
_FIELDS, _LONGEST = 5, 500
#: What a machine calls its own zone, whatever that is, and what stands for none.
_OF_A_MACHINE = {"localtime", "Factory"}


class WrongScheduleError(ValueError):
    """The message ends a sentence about the schedule, or the zone."""


def check_schedule(schedule: str) -> None:
    """Raises ``WrongScheduleError``."""
    if len(schedule) > _LONGEST:
        raise WrongScheduleError(f"has {len(schedule)} characters; {_LONGEST} are enough")
    if len(schedule.split()) != _FIELDS:
        raise WrongScheduleError(
            "has five fields: minute, hour, day of the month, month, day of the week"
            " ('0 3 * * *': at 3:00 each day)"
        )
    try:
        CronSim(schedule, datetime.now(UTC))
    except CronSimError as error:
        said = str(error)
        raise WrongScheduleError(f"is wrong: {said[0].lower()}{said[1:]}") from error


def check_zone(zone: str) -> None:
    """Raises ``WrongScheduleError``."""
    if zone not in _zones():
        raise WrongScheduleError(
            f"{quoted(zone)} is no time zone: write it as in Europe/Warsaw, or UTC"
        )


@cache
def _zones() -> Set[str]:
    return available_timezones() - _OF_A_MACHINE


def next_time(schedule: str, zone: str, *, after: datetime) -> datetime | None:
    """The first time later than ``after``, in UTC; None: there is none in the next fifty years."""
    return next(
        (time for time in _times(schedule, zone, after, reverse=False) if time > after), None
    )


def last_time(schedule: str, zone: str, *, after: datetime, until: datetime) -> datetime | None:
    """The last time later than ``after`` and not later than ``until``, in UTC: however many there
    were, it is one."""
    for time in _times(schedule, zone, until + _PUT_BACK, reverse=True):
        if time <= after:
            return None
        if time <= until:
            return time
    return None


def _times(schedule: str, zone: str, start: datetime, *, reverse: bool) -> Iterator[datetime]:
    """One after the other, but for hours that come twice, in which one may come again."""
    try:
        for time in CronSim(schedule, start.astimezone(ZoneInfo(zone)), reverse=reverse):
            yield time.astimezone(UTC)
    except CronSimError:  # the days of the month and the months never meet
        return
