"""All jobs of a task, read page by page."""

from collections.abc import AsyncIterator
from uuid import UUID

from sluice.clients.generated.wms import ForwardedWmsCalls
from sluice.contracts.common.states import JobState
from sluice.contracts.jobs.tasks import Job

#: The number of jobs in one request.
_PAGE = 1000


class JobPages(ForwardedWmsCalls):
    """Adds the list of all jobs of a task to the calls of the WMS."""

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
