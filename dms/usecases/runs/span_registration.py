"""What the registrations of periods and of runs have in common."""

from typing import Any

from sluice.contracts.data.runs import NewPeriod, NewRun, Period, Run
from sluice.servicekit.access.delegation import current_person


def find_person_name() -> str | None:
    """Return the name of the person who asks; None if a service does."""
    person = current_person()
    return None if person is None else person.name


def build_comparable_fields(
    first: Period | Run, new: NewPeriod | NewRun, *, counter: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that must be equal.

    If the new registration has no end, the end is left out: it may have been set later.
    """
    excluded = {counter} if new.ended_at is not None else {counter, "ended_at"}
    return first.model_dump(exclude=excluded), new.model_dump(exclude=excluded)
