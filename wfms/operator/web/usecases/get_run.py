"""Return a run of a data-taking period with its frames."""

import asyncio
from dataclasses import dataclass

from sluice.contracts.data.runs import Frame, Run
from wfms.operator.context import OperatorContext


@dataclass(frozen=True, slots=True)
class RunWithFrames:
    """A run and a page of its frames.

    Attributes:
        next: The number after which the next page begins; None on the last page.
    """

    run: Run
    frames: list[Frame]
    next: int | None


async def get_run(
    context: OperatorContext, number: int, *, after: int, limit: int
) -> RunWithFrames:
    """Return a run and its frames with numbers above ``after``.

    Raises:
        NotFound: The run is not registered.
    """
    run, frames = await asyncio.gather(
        context.dms.get_run(number), context.dms.list_frames(number, after=after, limit=limit + 1)
    )
    more = len(frames) > limit
    frames = frames[:limit]
    return RunWithFrames(run, frames, frames[-1].number if more else None)
