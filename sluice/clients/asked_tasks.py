"""What the service that asks people asks of the WMS."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.asking import (
    AnsweredJob,
    AnsweredJobs,
    AskedJobs,
    AskedTasks,
    RefusedJob,
    TakenAnswers,
)


class AskedTaskCalls(ServiceClient):
    """Steps that people do."""

    async def asked_tasks(self) -> AskedTasks:
        """Those that have not ended, the oldest first."""
        return await self.call("GET", f"{API}/asked", answer=AskedTasks)

    async def asked_jobs(self, uid: UUID, after: int = 0, limit: int | None = None) -> AskedJobs:
        """Those behind the job ``after`` that wait for answers, by id. Raises ``NotFound``."""
        return await self.call(
            "GET",
            f"{API}/asked/{uid}/jobs",
            answer=AskedJobs,
            params={"after": after, "limit": limit},
        )

    async def answered(
        self, uid: UUID, jobs: Sequence[AnsweredJob], refused: Sequence[RefusedJob] = ()
    ) -> TakenAnswers:
        """Repeating it is fine. Raises ``NotFound``; ``Unprocessable``, whose field ``jobs`` has
        the ids of those whose files cannot be taken, with commas between: then none was.
        """
        return await self.call(
            "POST",
            f"{API}/asked/{uid}/answers",
            body=AnsweredJobs(jobs=list(jobs), refused=list(refused)),
            answer=TakenAnswers,
        )
