"""What the WMS is asked about tasks and their jobs, and the operator service in the same way: it
passes these requests on.
"""

from collections.abc import AsyncIterator
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.states import JobState
from sluice.contracts.tasks import (
    Cancel,
    Explanation,
    Job,
    JobOrder,
    JobPage,
    Prioritise,
    TaskStatus,
)

#: Jobs of one request.
_PAGE = 1000


class JobCalls(ServiceClient):
    """Moving a task on, its jobs, and why they wait."""

    async def cancel_task(self, uid: UUID, asked: Cancel | None = None) -> TaskStatus:
        """Repeating it is fine. Raises ``NotFound``; ``Conflict`` where the task has ended
        otherwise.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=asked, answer=TaskStatus)

    async def retry_task(self, uid: UUID) -> TaskStatus:
        """Gives the task's failed and held jobs another round. Raises ``NotFound``,
        ``Conflict``.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/retry", answer=TaskStatus)

    async def prioritise(self, uid: UUID, rank: float) -> TaskStatus:
        """Raises ``NotFound``; ``Conflict`` where the task has ended."""
        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def explain_task(self, uid: UUID) -> Explanation:
        return await self.call("GET", f"{API}/tasks/{uid}/explain", answer=Explanation)

    async def all_jobs(
        self, task: UUID, *, state: JobState | None = None, full: bool = False, page: int = _PAGE
    ) -> AsyncIterator[Job]:
        """As ``jobs``, all of them; ``page``: read with one request."""
        after: str | None = None
        while True:
            found = await self.jobs(task, state=state, after=after, limit=page, full=full)
            for job in found.jobs:
                yield job
            if found.after is None:
                return
            after = found.after

    async def jobs(
        self,
        task: UUID,
        *,
        state: JobState | None = None,
        sort: JobOrder | None = None,
        after: str | None = None,
        limit: int | None = None,
        full: bool = False,
    ) -> JobPage:
        """Jobs of a task by number, or as ``sort`` says; ``full``: with what is known of their last
        attempts. Raises ``NotFound``, ``Unprocessable`` (jobs that have not ended have no other
        order).
        """
        params = {
            "state": state,
            "sort": sort,
            "after": after,
            "limit": limit,
            "full": full or None,
        }
        return await self.call("GET", f"{API}/tasks/{task}/jobs", answer=JobPage, params=params)

    async def job(self, job_id: int, *, full: bool = False) -> Job:
        """With its attempts; ``full``: and the names of their pilots. Raises ``NotFound``."""
        return await self.call(
            "GET", f"{API}/jobs/{job_id}", answer=Job, params={"full": full or None}
        )

    async def explain_job(self, job_id: int) -> Explanation:
        return await self.call("GET", f"{API}/jobs/{job_id}/explain", answer=Explanation)
