"""``/api/v1/queues``: message queues and dead letters."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.messaging.queue_status import (
    ChooseMessages,
    DeadMessages,
    MessagesMoved,
    QueueList,
)
from sluice.servicekit.access.policy import ADMINS, VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route, RouteResponse


class DeadQuery(Contract):
    """How many dead letters are listed."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class QueueRoutes:
    """The routes of message queues."""

    def __init__(self, context: OperatorContext) -> None:
        self._queues = context.queues

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        queue = "/queues/<queue>"
        errors = (NotFound, NotAvailable)
        return [
            Route("GET", "/queues", "list_queues", self.list, VIEWERS,
                  "List the queues between services, with their waiting messages and dead letters.",
                  answer=QueueList, errors=(NotAvailable,)),
            Route("GET", queue + "/dead", "list_dead_messages", self.dead, ADMINS,
                  "List the oldest dead letters of a queue, each with its reason.",
                  answer=DeadMessages, query=DeadQuery, errors=errors),
            Route("GET", queue + "/dead/<message>/body", "read_dead_body", self.body, ADMINS,
                  "Return the whole body of a dead letter, as it was sent.",
                  media="application/octet-stream", errors=errors),
            Route("POST", queue + "/requeue", "requeue", self.requeue, ADMINS,
                  "Requeue dead letters, as if they were sent again.",
                  answer=MessagesMoved, body=ChooseMessages, errors=errors),
            Route("POST", queue + "/drop", "drop",
                  self.drop, ADMINS, "Delete dead letters permanently.",
                  answer=MessagesMoved, body=ChooseMessages, errors=errors),
        ]  # fmt: skip

    async def list(self) -> QueueList:
        """List all queues."""
        return await self._queues.queues()

    async def dead(self, queue: str, query: DeadQuery) -> DeadMessages:
        """List the oldest dead letters of a queue."""
        return await self._queues.dead(queue, limit=query.limit)

    async def body(self, queue: str, message: str) -> RouteResponse:
        """Return the body of a dead letter as it was sent."""
        return RouteResponse(
            await self._queues.body(queue, message), content_type="application/octet-stream"
        )

    async def requeue(self, queue: str, body: ChooseMessages) -> MessagesMoved:
        """Put dead letters back into their queue."""
        return await self._queues.requeue(queue, body)

    async def drop(self, queue: str, body: ChooseMessages) -> MessagesMoved:
        """Delete dead letters."""
        return await self._queues.drop(queue, body)
