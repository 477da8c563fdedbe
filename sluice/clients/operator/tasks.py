"""What the operator service is asked about tasks and their jobs."""

from contextlib import AbstractAsyncContextManager
from uuid import UUID

import httpx

from sluice.clients.base import API
from sluice.clients.jobs import JobCalls
from sluice.contracts.chains import ChainTask, ChainTaskList
from sluice.contracts.logs import FollowedLog
from sluice.contracts.states import StepState
from sluice.contracts.tasks import Outlook


class TaskCalls(JobCalls):
    """Tasks, their jobs and the logs of these."""

    async def tasks(
        self,
        *,
        chain: UUID | None = None,
        state: StepState | None = None,
        after: str | None = None,
        limit: int | None = None,
        paged: bool = False,
        full: bool = False,
    ) -> ChainTaskList:
        """Those of the newest chains first; ``paged``: and where the next page begins; ``full``:
        with how many jobs of each were killed.
        """
        params = {
            "chain": chain,  # release 0.1.0 does not know chain_uid
            "state": state,
            "after": after,
            "limit": limit,
        }
        additions = {"paged": paged or None, "full": full or None}
        return await self.read_more(
            f"{API}/tasks", answer=ChainTaskList, params=params, additions=additions
        )

    async def task(self, uid: UUID, *, full: bool = False) -> ChainTask:
        """``full``: as in ``tasks``."""
        return await self.read_more(
            f"{API}/tasks/{uid}", answer=ChainTask, params={}, additions={"full": full or None}
        )

    async def outlook(self, uid: UUID) -> Outlook:
        """Raises ``NotFound``, also where the system is of a release that cannot say."""
        return await self.call("GET", f"{API}/tasks/{uid}/outlook", answer=Outlook)

    async def job_log(self, job_id: int, *, attempt: int | None = None) -> str:
        """The beginning and the end of its log. Raises ``NotFound`` where there is none."""
        params = {} if attempt is None else {"attempt": attempt}
        request = self._http.build_request("GET", f"{API}/jobs/{job_id}/log", params=params)
        return (await self._send(request)).text

    async def live_log(self, job_id: int) -> FollowedLog:
        """What it has written so far, while it runs. Raises ``NotFound``."""
        return await self.call("GET", f"{API}/jobs/{job_id}/log/live", answer=FollowedLog)

    def log_content(
        self, job_id: int, *, attempt: int | None = None
    ) -> AbstractAsyncContextManager[httpx.Response]:
        """All of its log, read while it comes. Raises ``NotFound``, ``NotAvailable``, httpx's
        ``TransportError``.
        """
        return self.stream(
            f"{API}/jobs/{job_id}/log/content" + ("" if attempt is None else f"?attempt={attempt}"),
            headers={},
        )
