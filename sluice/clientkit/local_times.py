"""Points in time in local time, for people."""

import re
from datetime import datetime


def local_time(moment: datetime | None) -> str:
    """Return ``2026-05-04 10:11:12 CEST``, or an empty text for None."""
    return "" if moment is None else f"{moment.astimezone():%F %T %Z}"


#: The line of a job's log with the start of the attempt.
_STARTED = re.compile(r"^started (\d{4}-\d\d-\d\dT\S+)$", re.MULTILINE)


def with_local_start(log: str) -> str:
    """Return a job's log with the start of the attempt in local time instead of UTC.

    The output of the tool does not change.
    """
    head, blank, streams = log.partition("\n\n")
    return f"{_STARTED.sub(_local_start, head)}{blank}{streams}"


def _local_start(line: re.Match[str]) -> str:
    try:
        return f"started {local_time(datetime.fromisoformat(line[1]))}"
    except ValueError:
        return line[0]
