"""The connection of the RabbitMQ transport: made when needed, made again after a loss, publishing with confirms."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import aio_pika
import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange
from aio_pika.exceptions import CONNECTION_EXCEPTIONS

from sluice.servicekit.transport.base import Topology, TransportUnavailable
from sluice.servicekit.transport.rabbitmq_topology import declare

log = structlog.get_logger(__name__)

T = TypeVar("T")

CONNECT_TIMEOUT = 10.0
ANSWER_TIMEOUT = 30.0
# Seconds; a peer that vanished without a word is noticed after two of them.
HEARTBEAT = 10
# So many messages are under way to the broker at once; more wait for their confirmation.
WINDOW = 500

# One message for the broker: exchange, routing key, what to publish, and whether some queue has to take it.
Post = tuple[str, str, aio_pika.Message, bool]


async def answer(awaitable: Awaitable[T], *, seconds: float = ANSWER_TIMEOUT) -> T:
    """Awaits the broker's answer; raises ``TransportUnavailable`` when it does not come.

    A lost connection cancels what waits inside the library. Gathering tells that from a cancellation of the caller.
    """
    try:
        async with asyncio.timeout(seconds):
            [result] = await asyncio.gather(awaitable, return_exceptions=True)
    except TimeoutError as error:
        raise TransportUnavailable(f"RabbitMQ did not answer within {seconds:.0f} s") from error
    if isinstance(result, BaseException):
        raise _translated(result)
    return result


def _translated(error: BaseException) -> BaseException:
    """``TransportUnavailable`` for what the library raises when the broker is out of reach or refuses; others as they are."""
    if not isinstance(error, (*CONNECTION_EXCEPTIONS, TimeoutError, asyncio.CancelledError, asyncio.InvalidStateError)):
        return error
    unavailable = TransportUnavailable(f"RabbitMQ: {type(error).__name__}: {error}")
    unavailable.__cause__ = error
    return unavailable


class RabbitLink:
    """Opens channels; whoever needs one while there is no connection makes it (one attempt) or gets ``TransportUnavailable``."""

    def __init__(self, url: str, topology: Topology) -> None:
        self._url = url
        self._topology = topology
        self._connection: AbstractConnection | None = None
        self._publisher: AbstractChannel | None = None
        self._exchanges: dict[str, AbstractExchange] = {}
        self._opening = asyncio.Lock()
        self._closed = False

    async def close(self) -> None:
        self._closed = True
        async with self._opening:
            connection, self._connection = self._connection, None
            if connection is not None:
                await asyncio.gather(connection.close(), return_exceptions=True)

    async def channel(self) -> AbstractChannel:
        """A channel of the caller's own, who closes it."""
        return await answer(self._open_channel(await self._connected()))

    async def publish(self, posts: Sequence[Post]) -> None:
        """Returns when the broker has confirmed every one; raises ``TransportUnavailable`` when it did not."""
        for start in range(0, len(posts), WINDOW):
            exchanges = await self._ready_to_publish({exchange for exchange, *_ in posts[start : start + WINDOW]})
            window = [
                exchanges[exchange].publish(message, key, mandatory=mandatory, timeout=ANSWER_TIMEOUT)
                for exchange, key, message, mandatory in posts[start : start + WINDOW]
            ]
            for result in await asyncio.gather(*window, return_exceptions=True):
                if isinstance(result, BaseException):
                    raise _translated(result)

    async def _connected(self) -> AbstractConnection:
        async with self._opening:
            if self._closed:
                raise TransportUnavailable("stopped")
            if self._connection is None or not _is_open(self._connection):
                self._connection = None
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> AbstractConnection:
        connection = await answer(
            aio_pika.connect(self._url, timeout=CONNECT_TIMEOUT, heartbeat=HEARTBEAT), seconds=CONNECT_TIMEOUT
        )
        try:
            channel = await answer(self._open_channel(connection))
            await answer(declare(channel, self._topology))
            await answer(channel.close())
        except TransportUnavailable:
            await asyncio.gather(connection.close(), return_exceptions=True)
            raise
        log.info("transport.connected", queues=len(self._topology.queues))
        return connection

    async def _open_channel(self, connection: AbstractConnection) -> AbstractChannel:
        channel = connection.channel(publisher_confirms=True, on_return_raises=True)
        await channel.initialize(timeout=ANSWER_TIMEOUT)
        return channel

    async def _ready_to_publish(self, names: set[str]) -> dict[str, AbstractExchange]:
        connection = await self._connected()
        async with self._opening:
            if self._publisher is None or self._publisher.is_closed:
                self._exchanges.clear()
                self._publisher = await answer(self._open_channel(connection))
            for name in names - self._exchanges.keys():
                self._exchanges[name] = await answer(self._publisher.get_exchange(name, ensure=False))
            return self._exchanges


def _is_open(connection: AbstractConnection) -> bool:
    return not connection.is_closed and connection.connected.is_set()
