"""Alarms of a RabbitMQ broker that is short of disk or memory.

Such a broker does not read from connections that publish. It answers all others.
"""

import asyncio
from typing import Any

import structlog
from aio_pika.abc import AbstractConnection
from aiormq import spec

log = structlog.get_logger(__name__)

_WAITING = "messages wait in the databases and are sent when there is space again"
#: The fault of the broker, by the reason that it gives.
_CAUSES = {
    "low on disk": f"the message broker's disk is full: {_WAITING}; free space on its volume",
    "low on memory": f"the message broker's memory is full: {_WAITING}; give it more memory",
    "low on memory & disk": (
        f"the message broker's disk and memory are full: {_WAITING}; free space on its volume"
    ),
}


class Alarm:
    """The alarm that the broker has raised for one connection, if any."""

    def __init__(self, connection: AbstractConnection) -> None:
        self.cause: str | None = None
        self.raised = asyncio.Event()
        self.ended = asyncio.Event()
        self.ended.set()
        # The library has no event for an alarm, and tells the reason to its log only.
        underlay: Any = connection.transport.connection if connection.transport else None
        if underlay is not None:
            underlay._Connection__handle_connection_blocked = self._begin
            underlay._Connection__handle_connection_unblocked = self._end
        connection.close_callbacks.add(self._forget)

    async def _begin(self, frame: spec.Connection.Blocked) -> None:
        self.cause = _CAUSES.get(
            frame.reason, f"the message broker takes no messages: {frame.reason}"
        )
        self.ended.clear()
        self.raised.set()
        log.warning("transport.broker_unavailable", reason=self.cause)

    async def _end(self, _: spec.Connection.Unblocked) -> None:
        self._forget()
        log.info("transport.broker_available")

    def _forget(self, *_: object) -> None:
        self.cause = None
        self.raised.clear()
        self.ended.set()
