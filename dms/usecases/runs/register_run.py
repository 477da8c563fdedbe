"""Register periods, runs and frames. A repeated registration returns the first."""

from collections.abc import Sequence
from typing import Any

from dms.db.periods import (
    RUNS,
    find_period,
    find_run,
    insert_frames,
    insert_period,
    insert_run,
    list_frames_by_number,
    lock_span,
)
from dms.domain.differences import require_same_request
from dms.domain.errors import require_order
from dms.usecases.runs.require_owner import require_owner
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.datasets import RegistrationCounts
from sluice.contracts.data.runs import NewFrame, NewPeriod, NewRun, Period, Run
from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted


async def register_period(database: Database, new: NewPeriod) -> tuple[Period, bool]:
    """Register a period, and return it with True; return the first one with False if it exists.

    Raises:
        Conflict: The period is registered differently.
        EndBeforeStart: It ends before it starts.
    """
    require_order(f"period {quoted(new.name)}", new.started_at, new.ended_at)
    async with database.transaction() as transaction:
        connection = transaction.connection
        created = await insert_period(connection, new, _person_name())
        first = created or await find_period(connection, new.name)
    assert first is not None  # noqa: S101 - the name was taken a moment ago, and periods are never forgotten
    require_same_request(f"period {quoted(new.name)}", *_comparable(first, new, counter="runs"))
    return first, created is not None


async def register_run(database: Database, new: NewRun) -> tuple[Run, bool]:
    """Register a run, and return it with True; return the first one with False if it exists.

    Raises:
        Conflict: The run is registered differently.
        UnknownPeriod: Its period is not registered.
        EndBeforeStart: It ends before it starts.
    """
    require_order(f"run {new.number}", new.started_at, new.ended_at)
    async with database.transaction() as transaction:
        connection = transaction.connection
        created = await insert_run(connection, new, _person_name())
        first = created or await find_run(connection, new.number)
    assert first is not None  # noqa: S101 - the number was taken a moment ago, and runs are never forgotten
    require_same_request(f"run {new.number}", *_comparable(first, new, counter="frames"))
    return first, created is not None


def _person_name() -> str | None:
    """Return the name of the person who asks; None if a service does."""
    person = current_person()
    return None if person is None else person.name


def _comparable(
    first: Period | Run, new: NewPeriod | NewRun, *, counter: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that must be equal.

    If the new registration has no end, the end is left out: it may have been set later.
    """
    excluded = {counter} if new.ended_at is not None else {counter, "ended_at"}
    return first.model_dump(exclude=excluded), new.model_dump(exclude=excluded)


async def register_frames(
    database: Database, run: int, frames: Sequence[NewFrame]
) -> RegistrationCounts:
    """Register the new frames of a run.

    The user who registered the run may do so, and people with the role *shift*.

    Raises:
        NotFound: The run is not registered.
        Forbidden: Somebody else registered the run.
        Conflict: A frame is registered differently.
        UnknownFrameFile: The file of a frame is not registered.
    """
    async with database.transaction() as transaction:
        connection = transaction.connection
        locked = await lock_span(connection, RUNS, run)
        if locked is None:
            raise NotFound(f"run {run} is not registered", run=run)
        require_owner(locked.owner, action=f"frames can be added to run {run}")
        new = await insert_frames(connection, run, frames)
        registered = await list_frames_by_number(
            connection, run, [frame.number for frame in frames]
        )
        for frame in frames:
            require_same_request(
                f"frame {frame.number} of run {run}",
                registered[frame.number].model_dump(exclude={"run"}),
                frame.model_dump(),
            )
    return RegistrationCounts(new=new, known=len(frames) - new)
