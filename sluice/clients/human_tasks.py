"""Calls of the human-task service to the WMS."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.human_tasks.annotation import (
    AcceptedAnswers,
    AnsweredJob,
    AnsweredJobs,
    HumanJobList,
    HumanTaskList,
    RefusedJob,
)


class HumanTaskCalls(ServiceClient):
    """Calls about the tasks of human steps."""

    async def list_human_tasks(self) -> HumanTaskList:
        """Return the tasks that have not ended, the oldest first."""
        return await self.call("GET", f"{API}/asked", answer=HumanTaskList)

    async def list_human_jobs(
        self, uid: UUID, after: int = 0, limit: int | None = None
    ) -> HumanJobList:
        """Return jobs after the job ``after`` that wait for answers, by id.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call(
            "GET",
            f"{API}/asked/{uid}/jobs",
            answer=HumanJobList,
            params={"after": after, "limit": limit},
        )

    async def report_answers(
        self, uid: UUID, jobs: Sequence[AnsweredJob], refused_jobs: Sequence[RefusedJob] = ()
    ) -> AcceptedAnswers:
        """Report the answers to jobs. Repeating the call is safe.

        Raises:
            NotFound: There is no such task.
            Unprocessable: Files of some jobs are wrong, and no answer was accepted. The field
                ``jobs`` has the ids of these jobs, separated by commas.
        """
        return await self.call(
            "POST",
            f"{API}/asked/{uid}/answers",
            body=AnsweredJobs(jobs=list(jobs), refused=list(refused_jobs)),
            answer=AcceptedAnswers,
        )
