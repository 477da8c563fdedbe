"""Calls to the operator service about notices, pilots and queues."""

from sluice.clients.base import API, build_path
from sluice.clients.work_calls import SharedWorkCalls
from sluice.contracts.chains.attention import NoticeList
from sluice.contracts.jobs.steps import SetStepPriority, StepList
from sluice.contracts.messaging.queue_status import (
    ChooseMessages,
    DeadMessages,
    MessagesMoved,
    QueueList,
)
from sluice.contracts.pilots.pilot_list import PilotList


class OperationCalls(SharedWorkCalls):
    """Calls about notices, pilots, steps, limits, sites and queues."""

    async def list_notices(self, *, limit: int | None = None) -> NoticeList:
        """Return the notices: what needs attention."""
        return await self.call(
            "GET", f"{API}/attention", answer=NoticeList, params={"limit": limit}
        )

    async def list_pilots(self, *, after: str | None = None, limit: int | None = None) -> PilotList:
        """Return pilots, active ones first; without ``limit``, at most ten thousand."""
        return await self.call(
            "GET", f"{API}/pilots", answer=PilotList, params={"after": after, "limit": limit}
        )

    async def prioritise_step(self, step: str, new: SetStepPriority) -> StepList:
        """Set the priority of a step.

        Raises:
            NotFound: No template has such a step.
        """
        path = build_path("steps", step, "priority")
        return await self.call("PUT", path, body=new, answer=StepList)

    async def list_queues(self) -> QueueList:
        """Return the queues with their waiting messages and dead letters."""
        return await self.call("GET", f"{API}/queues", answer=QueueList)

    async def list_dead_messages(self, queue: str, *, limit: int | None = None) -> DeadMessages:
        """Return the oldest dead letters of a queue.

        Raises:
            NotFound: There is no such queue.
        """
        return await self.call(
            "GET",
            build_path("queues", queue, "dead"),
            answer=DeadMessages,
            params={"limit": limit},
        )

    async def get_dead_body(self, queue: str, message: str) -> bytes:
        """Return the whole body of a dead letter.

        Raises:
            NotFound: There is no such dead letter.
        """
        path = build_path("queues", queue, "dead", message, "body")
        return (await self._send(self._http.build_request("GET", path))).content

    async def requeue(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Put dead letters back into their queue.

        Raises:
            NotFound: The queue, or every named message, does not exist.
        """
        return await self.call(
            "POST", build_path("queues", queue, "requeue"), body=choice, answer=MessagesMoved
        )

    async def drop(self, queue: str, choice: ChooseMessages) -> MessagesMoved:
        """Delete dead letters. Errors are as in ``requeue``."""
        return await self.call(
            "POST", build_path("queues", queue, "drop"), body=choice, answer=MessagesMoved
        )
