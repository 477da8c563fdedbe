"""The connections of the RabbitMQ transport: made when needed, made again after a loss, publishing
with confirms.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import aio_pika
import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, DeliveryError
from aiormq.channel import Channel

from sluice.os_errors import reason_of
from sluice.servicekit.transport.base import TransportUnavailable

log = structlog.get_logger(__name__)

T = TypeVar("T")

CONNECT_TIMEOUT = 10.0
ANSWER_TIMEOUT = 30.0
# Seconds; a peer that vanished without a word is noticed after two of them.
HEARTBEAT = 10
# So many messages are under way to the broker at once; more wait for their confirmation.
WINDOW = 500

#: Makes sure that a new connection finds in the broker what it needs; raises
#: ``TransportUnavailable``.
Prepare = Callable[[AbstractConnection], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Post:
    """One message for an exchange. ``mandatory``: some queue has to take it."""

    exchange: str
    message: aio_pika.Message
    mandatory: bool = True


async def answer(awaitable: Awaitable[T], *, seconds: float = ANSWER_TIMEOUT) -> T:
    """Awaits the broker's answer; raises ``TransportUnavailable`` when it does not come.

    A lost connection cancels what waits inside the library. Gathering tells that from a
    cancellation of the caller.
    """
    try:
        async with asyncio.timeout(seconds):
            [result] = await asyncio.gather(awaitable, return_exceptions=True)
    except TimeoutError as error:
        raise TransportUnavailable(f"RabbitMQ did not answer within {seconds:.0f} s") from error
    if isinstance(result, BaseException):
        raise translated(result)
    return result


async def acknowledge_message(
    message: AbstractIncomingMessage, *, and_before: bool = False
) -> None:
    """``and_before``: all that came before it on its channel, too. Raises
    ``TransportUnavailable``.
    """
    await answer(_acknowledge_while_open(message, and_before=and_before))


async def _acknowledge_while_open(message: AbstractIncomingMessage, *, and_before: bool) -> None:
    """The library goes on waiting for room to write when its connection has ended and nobody makes
    any.
    """
    ending = message.channel.closing
    acknowledging = asyncio.ensure_future(message.ack(multiple=and_before))
    try:
        await asyncio.wait({acknowledging, ending}, return_when=asyncio.FIRST_COMPLETED)
        if not acknowledging.done():
            raise ConnectionError("the channel was closed")
        acknowledging.result()
    finally:
        acknowledging.cancel()
        ending.cancel()


def translated(error: BaseException) -> BaseException:
    """``TransportUnavailable`` for what the library raises when the broker is out of reach or
    refuses; others as they are.
    """
    if not isinstance(
        error,
        (*CONNECTION_EXCEPTIONS, TimeoutError, asyncio.CancelledError, asyncio.InvalidStateError),
    ):
        return error
    unavailable = TransportUnavailable(f"RabbitMQ: {reason_of(error)}")
    unavailable.__cause__ = error
    return unavailable


async def open_channel(connection: AbstractConnection) -> AbstractChannel:
    channel = connection.channel(publisher_confirms=True, on_return_raises=True)
    await answer(channel.initialize(timeout=ANSWER_TIMEOUT))
    return channel


class BrokerConnection:
    """One connection; whoever needs it while there is none makes it (one attempt) or gets
    ``TransportUnavailable``.
    """

    def __init__(self, url: str, prepare: Prepare) -> None:
        self._url = url
        self._prepare = prepare
        self._connection: AbstractConnection | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def connection(self) -> AbstractConnection:
        async with self._opening:
            if self._closed:
                raise TransportUnavailable("stopped")
            if self._connection is None or not _is_open(self._connection):
                self._connection = None
                self._connection = await self._connect()
            return self._connection

    async def close(self) -> None:
        self._closed = True
        async with self._opening:
            await self._hang_up()

    async def cut(self, connection: AbstractConnection) -> None:
        """Gives up a connection that does not answer; the next one who needs it makes another."""
        async with self._opening:
            if self._connection is connection:
                await self._hang_up()

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await _close(connection)

    async def _connect(self) -> AbstractConnection:
        connection = await answer(
            aio_pika.connect(self._url, timeout=CONNECT_TIMEOUT, heartbeat=HEARTBEAT),
            seconds=CONNECT_TIMEOUT,
        )
        try:
            await self._prepare(connection)
        except BaseException:
            await _close(connection)
            raise
        log.info("transport.connected")
        return connection


class RabbitLink:
    """Two connections, because a broker that runs short of memory or disk stops reading from those
    that publish: messages in hand are answered all the same.
    """

    def __init__(self, url: str, prepare: Prepare) -> None:
        self._receiving = BrokerConnection(url, prepare)
        self._sending = BrokerConnection(url, prepare)
        self._publisher: AbstractChannel | None = None
        self._published_on: AbstractConnection | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        await asyncio.gather(self._receiving.close(), self._sending.close())

    async def channel(self) -> AbstractChannel:
        """A channel of the caller's own for everything but publishing; the caller closes it."""
        return await open_channel(await self._receiving.connection())

    async def publish(self, posts: Sequence[Post]) -> None:
        """Returns when the broker has confirmed every one; raises ``TransportUnavailable``, which
        says what was stored, when it did not.
        """
        stored: set[str] = set()
        for start in range(0, len(posts), WINDOW):
            window = posts[start : start + WINDOW]
            try:
                results = await self._publish(window)
            except TransportUnavailable as error:
                raise TransportUnavailable(error.what, stored=stored) from error
            stored |= {
                _id(post) for post, result in zip(window, results, strict=True) if result is None
            }
            failed = [
                (post, result)
                for post, result in zip(window, results, strict=True)
                if result is not None
            ]
            if failed:
                raise _failure(failed, stored)

    async def _publish(self, window: Sequence[Post]) -> list[BaseException | None]:
        """For each post None or why it is not confirmed. Not ``Exchange.publish``, which waits for
        the socket at each message.
        """
        connection = await self._sending.connection()
        underlay = cast(
            Channel, await answer((await self._open_publisher(connection)).get_underlay_channel())
        )
        sending = [
            underlay.basic_publish(
                post.message.body,
                exchange=post.exchange,
                routing_key=post.exchange,
                properties=post.message.properties,
                mandatory=post.mandatory,
                wait=False,
            )
            for post in window
        ]
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                results = await asyncio.gather(*sending, return_exceptions=True)
        except TimeoutError as error:
            # What was not confirmed would pile up in the buffers of a connection that the broker
            # does not read.
            await self._sending.cut(connection)
            raise TransportUnavailable(
                f"RabbitMQ did not confirm within {ANSWER_TIMEOUT:.0f} s"
            ) from error
        return [result if isinstance(result, BaseException) else None for result in results]

    async def _open_publisher(self, connection: AbstractConnection) -> AbstractChannel:
        async with self._opening:
            if (
                self._publisher is None
                or self._publisher.is_closed
                or self._published_on is not connection
            ):
                self._publisher, self._published_on = await open_channel(connection), connection
            return self._publisher


def _failure(failed: Sequence[tuple[Post, BaseException]], stored: set[str]) -> BaseException:
    """What the broker answered with a no comes second to a loss, after which nothing more is
    known.
    """
    for _, error in failed:
        if not isinstance(error, DeliveryError):
            unavailable = translated(error)
            what = unavailable.what if isinstance(unavailable, TransportUnavailable) else None
            return unavailable if what is None else TransportUnavailable(what, stored=stored)
    refused = {post.exchange for post, _ in failed}
    return TransportUnavailable(
        f"RabbitMQ refuses messages for {', '.join(sorted(refused))}: a queue is full or cannot"
        " store now",
        stored=stored,
        refused=refused,
    )


def _id(post: Post) -> str:
    return post.message.message_id or ""


async def _close(connection: AbstractConnection) -> None:
    """A broker that does not read is not waited for."""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            await asyncio.gather(connection.close(), return_exceptions=True)
    except TimeoutError:
        log.warning("transport.connection_abandoned")


def _is_open(connection: AbstractConnection) -> bool:
    return not connection.is_closed and connection.connected.is_set()
