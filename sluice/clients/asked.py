"""What the service that asks people asks of the WMS."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.asking import AnsweredJobs, AskedJobs, AskedTasks, TakenAnswers


class AskedCalls(ServiceClient):
    """Jobs that wait for the answers of people."""

    async def asked_tasks(self) -> AskedTasks:
        """Those that live."""
        return await self.call("GET", f"{API}/asked", answer=AskedTasks)

    async def asked_jobs(self, task: UUID, *, after: int = 0, limit: int = 200) -> AskedJobs:
        """Those behind the id ``after``. Raises ``NotFound``."""
        params = {"after": after, "limit": limit}
        return await self.call("GET", f"{API}/asked/{task}/jobs", answer=AskedJobs, params=params)

    async def answered(self, task: UUID, jobs: AnsweredJobs) -> TakenAnswers:
        """Repeating it is fine. Raises ``NotFound``."""
        return await self.call(
            "POST", f"{API}/asked/{task}/answers", body=jobs, answer=TakenAnswers
        )
