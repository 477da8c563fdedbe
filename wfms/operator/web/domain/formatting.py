"""Sizes, durations and other numbers as text for people."""

from datetime import datetime, timedelta

from sluice.contracts.common.numbers import in_full, number_text
from sluice.contracts.jobs.needs import Needs

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def needs_text(needs: Needs) -> str:
    """Return the resource request of a job: ``2 cores, 512 MiB, at most 60 s``."""
    resources = needs.resources
    cores = f"{in_full(resources.cores)} {'core' if resources.cores == 1 else 'cores'}"
    memory = (
        f"{number_text(resources.ram)} MiB"
        if resources.ram
        else "no memory request: the node's memory is the limit"
    )
    limit = f", at most {in_full(resources.time_limit)} s" if resources.time_limit else ""
    checkpoint = f", {needs.checkpoint.words}" if needs.checkpoint else ""
    return f"{cores}, {memory}{limit}{checkpoint}"


def memory_text(used_mib: float | None) -> str:
    """Return used memory in MiB: ``0.4 MiB``, ``312 MiB``; a dash if it was not measured."""
    return (
        "–"
        if not used_mib
        else f"{used_mib:.1f} MiB"
        if used_mib < 9.95
        else f"{number_text(round(used_mib))} MiB"
    )


def duration_text(duration: timedelta) -> str:
    """Return a duration: ``4.2 s``, ``3 min 5 s``, ``2 h 10 min``, ``3 d 4 h``."""
    seconds = max(duration.total_seconds(), 0.0)
    if seconds < _MINUTE:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    if seconds < _HOUR:
        return _two_units(int(seconds), _MINUTE, 1, "min", "s")
    if seconds < _DAY:
        return _two_units(int(seconds), _HOUR, _MINUTE, "h", "min")
    return _two_units(int(seconds), _DAY, _HOUR, "d", "h")


def _two_units(seconds: int, big: int, small: int, *names: str) -> str:
    big_units, remainder = divmod(seconds, big)
    return f"{big_units} {names[0]}" + (
        f" {remainder // small} {names[1]}" if remainder // small else ""
    )


def ago_text(moment: datetime, now: datetime) -> str:
    """Return the time since a moment: ``just now``, ``5 min ago``, ``2 h ago``, ``3 d ago``."""
    seconds = int((now - moment).total_seconds())
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {name} ago"
    return "just now" if seconds < 10 else f"{seconds} s ago"
