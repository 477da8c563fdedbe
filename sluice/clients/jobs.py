"""Calls about tasks and jobs that the WMS and the operator service have in common.

The operator service passes these requests on.
"""

from collections.abc import AsyncIterator
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import (
    Cancel,
    Explanation,
    Job,
    JobOrder,
    JobPage,
    Prioritise,
    TaskStatus,
)

#: The number of jobs in one request.
_PAGE = 1000


class JobCalls(ServiceClient):
    """Control of tasks, their jobs, and explanations of waiting."""

    async def cancel_task(self, uid: UUID, request: Cancel | None = None) -> TaskStatus:
        """Cancel a task. Repeating the call is safe.

        Raises:
            NotFound: There is no such task.
            Conflict: The task has ended in another state.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=request, answer=TaskStatus)

    async def retry_task(self, uid: UUID) -> TaskStatus:
        """Retry the failed and quarantined jobs of a task.

        Raises:
            NotFound: There is no such task.
            Conflict: The task cannot be retried.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/retry", answer=TaskStatus)

    async def prioritise(self, uid: UUID, rank: float) -> TaskStatus:
        """Set the rank of a task.

        Raises:
            NotFound: There is no such task.
            Conflict: The task has ended.
        """
        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def explain_task(self, uid: UUID) -> Explanation:
        """Return why a task waits."""
        return await self.call("GET", f"{API}/tasks/{uid}/explain", answer=Explanation)

    async def iterate_jobs(
        self, task: UUID, *, state: JobState | None = None, full: bool = False, page: int = _PAGE
    ) -> AsyncIterator[Job]:
        """Yield all jobs of a task as in ``list_jobs``, ``page`` of them with one request."""
        after: str | None = None
        while True:
            job_page = await self.list_jobs(task, state=state, after=after, limit=page, full=full)
            for job in job_page.jobs:
                yield job
            if job_page.after is None:
                return
            after = job_page.after

    async def list_jobs(
        self,
        task: UUID,
        *,
        state: JobState | None = None,
        sort: JobOrder | None = None,
        after: str | None = None,
        limit: int | None = None,
        full: bool = False,
    ) -> JobPage:
        """Return a page of a task's jobs, by number or as ``sort`` says.

        ``full`` includes details of their last attempts.

        Raises:
            NotFound: There is no such task.
            Unprocessable: Jobs that have not ended cannot be sorted this way.
        """
        params = {
            "state": state,
            "sort": sort,
            "after": after,
            "limit": limit,
            "full": full or None,
        }
        return await self.call("GET", f"{API}/tasks/{task}/jobs", answer=JobPage, params=params)

    async def get_job(self, job_id: int) -> Job:
        """Return a job with its attempts; with ``full``, also with the names of their pilots.

        Raises:
            NotFound: There is no such job.
        """
        return await self.call("GET", f"{API}/jobs/{job_id}", answer=Job)

    async def explain_job(self, job_id: int) -> Explanation:
        """Return why a job waits."""
        return await self.call("GET", f"{API}/jobs/{job_id}/explain", answer=Explanation)
