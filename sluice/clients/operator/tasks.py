"""Calls to the operator service about tasks and jobs."""

from contextlib import AbstractAsyncContextManager
from uuid import UUID

import httpx

from sluice.clients.base import API
from sluice.clients.jobs import JobCalls
from sluice.contracts.jobs.logs import FollowedLog
from sluice.contracts.jobs.tasks import Schedulability


class TaskCalls(JobCalls):
    """Calls about tasks, jobs and logs."""

    async def get_outlook(self, uid: UUID) -> Schedulability:
        """Return whether the jobs of a task will ever find a node.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call("GET", f"{API}/tasks/{uid}/outlook", answer=Schedulability)

    async def get_job_log(self, job_id: int, *, attempt: int | None = None) -> str:
        """Return the beginning and the end of a job's log.

        Raises:
            NotFound: There is no log.
        """
        params = {} if attempt is None else {"attempt": attempt}
        request = self._http.build_request("GET", f"{API}/jobs/{job_id}/log", params=params)
        return (await self._send(request)).text

    async def get_live_log(self, job_id: int) -> FollowedLog:
        """Return what a running job has written to its log.

        Raises:
            NotFound: There is no such job.
        """
        return await self.call("GET", f"{API}/jobs/{job_id}/log/live", answer=FollowedLog)

    def stream_log(
        self, job_id: int, *, attempt: int | None = None
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """Stream the whole log of a job.

        httpx's ``TransportError`` is raised if the response breaks off.

        Raises:
            NotFound: There is no log.
            NotAvailable: The storage does not answer.
        """
        return self.stream(
            f"{API}/jobs/{job_id}/log/content" + ("" if attempt is None else f"?attempt={attempt}"),
            headers={},
        )
