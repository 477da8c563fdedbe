"""Register frames of a run. A repeated registration changes nothing."""

from collections.abc import Sequence

from dms.db.periods import RUNS, insert_frames, list_frames_by_number, lock_span
from dms.domain.differences import require_same_request
from dms.usecases.runs.require_owner import require_owner
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.datasets import RegistrationCounts
from sluice.contracts.data.runs import NewFrame
from sluice.servicekit.database import Database


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
