"""Connections of the RabbitMQ transport, which are opened on demand, and confirmed publishing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import aio_pika
import structlog
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import CONNECTION_EXCEPTIONS, DeliveryError
from aiormq.channel import Channel

from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.transport.rabbitmq_alarm import Alarm
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

T = TypeVar("T")

CONNECT_TIMEOUT = 10.0
ANSWER_TIMEOUT = 30.0
# Seconds. A lost peer is noticed after two heartbeats.
HEARTBEAT = 10
# The maximum number of unconfirmed messages.
WINDOW = 500

#: Prepares a new connection: declares or checks what it needs in the broker. Raises
#: ``TransportUnavailable``.
Prepare = Callable[[AbstractConnection], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Post:
    """One message for an exchange. ``mandatory`` means that some queue must store it."""

    exchange: str
    message: aio_pika.Message
    mandatory: bool = True


async def answer(awaitable: Awaitable[T], *, seconds: float = ANSWER_TIMEOUT) -> T:
    """Wait for the broker's answer.

    The library cancels its own waits when the connection is lost. ``gather`` distinguishes this
    from a cancellation of the caller.

    Raises:
        TransportUnavailable: The answer does not come in time, or the connection is lost.
    """
    try:
        async with asyncio.timeout(seconds):
            [result] = await asyncio.gather(awaitable, return_exceptions=True)
    except TimeoutError as error:
        raise TransportUnavailable(f"RabbitMQ did not answer within {seconds:.0f} s") from error
    if isinstance(result, BaseException):
        raise translate_error(result)
    return result


async def acknowledge_message(
    message: AbstractIncomingMessage, *, and_before: bool = False
) -> None:
    """Acknowledge a message and, with ``and_before``, all earlier ones of its channel.

    Raises:
        TransportUnavailable: The channel is lost.
    """
    await answer(_acknowledge_while_open(message, and_before=and_before))


async def _acknowledge_while_open(message: AbstractIncomingMessage, *, and_before: bool) -> None:
    """Acknowledge a message unless the channel closes first.

    The library would wait forever to write to a connection that has ended.
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


async def _wait_for_first(*futures: "asyncio.Future[Any]") -> None:
    """Wait for one of the futures, and cancel the others."""
    try:
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future in futures:
            future.cancel()


def translate_error(error: BaseException) -> BaseException:
    """Return an error of the library as ``TransportUnavailable`` if the broker is unavailable.

    Other errors are returned unchanged.
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
    """Open a channel with publisher confirms."""
    channel = connection.channel(publisher_confirms=True, on_return_raises=True)
    await answer(channel.initialize(timeout=ANSWER_TIMEOUT))
    return channel


class BrokerConnection:
    """One connection, opened by the first user that needs it.

    An attempt that fails raises ``TransportUnavailable``.
    """

    def __init__(self, url: str, prepare: Prepare) -> None:
        self._url = url
        self._prepare = prepare
        self._connection: AbstractConnection | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def connection(self) -> AbstractConnection:
        """Return the open connection, or open one.

        Raises:
            TransportUnavailable: The broker is unavailable, or the transport has stopped.
        """
        async with self._opening:
            if self._closed:
                raise TransportUnavailable("stopped")
            if self._connection is None or not _is_open(self._connection):
                self._connection = None
                self._connection = await self._connect()
            return self._connection

    async def close(self) -> None:
        """Close the connection permanently."""
        self._closed = True
        async with self._opening:
            await self._disconnect()

    async def cut(self, connection: AbstractConnection) -> None:
        """Drop a connection that does not answer. The next user opens another one."""
        async with self._opening:
            if self._connection is connection:
                await self._disconnect()

    async def _disconnect(self) -> None:
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
    """Two connections, one for receiving and one for sending.

    A broker that runs short of memory or disk stops reading from publishers. Received messages can
    still be acknowledged on the other connection.
    """

    def __init__(self, url: str, prepare: Prepare) -> None:
        self._receiving = BrokerConnection(url, prepare)
        self._sending = BrokerConnection(url, prepare)
        self._publisher: AbstractChannel | None = None
        self._published_on: AbstractConnection | None = None
        self._alarm: Alarm | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        """Close both connections."""
        await asyncio.gather(self._receiving.close(), self._sending.close())

    async def channel(self) -> AbstractChannel:
        """Return a new channel for anything but publishing. The caller closes it."""
        return await open_channel(await self._receiving.connection())

    def require_no_alarm(self) -> None:
        """Check that the broker is not known to be out of disk or memory.

        Raises:
            TransportUnavailable: It is.
        """
        if self._alarm is not None and self._alarm.cause is not None:
            raise TransportUnavailable(self._alarm.cause)

    async def wait_for_end_of_alarm(self, message: AbstractIncomingMessage) -> None:
        """Wait until the broker takes messages again, or the channel of ``message`` closes."""
        if self._alarm is not None:
            ended = asyncio.ensure_future(self._alarm.ended.wait())
            await _wait_for_first(ended, message.channel.closing)

    async def publish(self, posts: Sequence[Post]) -> None:
        """Publish messages and wait until the broker has confirmed all of them.

        Raises:
            TransportUnavailable: Not all were confirmed. The error says which are stored.
        """
        stored: set[str] = set()
        for start in range(0, len(posts), WINDOW):
            window = posts[start : start + WINDOW]
            try:
                results = await self._publish(window)
            except TransportUnavailable as error:
                raise TransportUnavailable(
                    error.what, stored_ids=stored | error.stored_ids
                ) from error
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
        """Return for each message None, or the error if it is not confirmed.

        This avoids ``Exchange.publish``, which waits for the socket at each message.
        """
        connection = await self._sending.connection()
        publisher, alarm = await self._open_publisher(connection)
        # The connection stays open in an alarm: the broker keeps each that it does not read.
        self.require_no_alarm()
        underlay = cast(Channel, await answer(publisher.get_underlay_channel()))
        sending = [
            asyncio.ensure_future(
                underlay.basic_publish(
                    post.message.body,
                    exchange=post.exchange,
                    routing_key=post.exchange,
                    properties=post.message.properties,
                    mandatory=post.mandatory,
                    wait=False,
                )
            )
            for post in window
        ]
        confirmed = asyncio.gather(*sending, return_exceptions=True)
        # Python logs the cancellation of a gathering at an alarm as an error that is not retrieved.
        confirmed.add_done_callback(lambda done: done.cancelled() or done.exception())
        raised = asyncio.ensure_future(alarm.raised.wait())
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await _wait_for_first(raised, confirmed)
            if confirmed.done():
                results = confirmed.result()
                return [one if isinstance(one, BaseException) else None for one in results]
            stored = {
                _id(post) for post, one in zip(window, sending, strict=True) if _has_succeeded(one)
            }
            raise TransportUnavailable(alarm.cause or "RabbitMQ did not confirm", stored_ids=stored)
        except TimeoutError as error:
            # Unconfirmed messages would fill the buffers of a connection that the broker does not
            # read.
            await self._sending.cut(connection)
            raise TransportUnavailable(
                f"RabbitMQ did not confirm within {ANSWER_TIMEOUT:.0f} s"
            ) from error

    async def _open_publisher(
        self, connection: AbstractConnection
    ) -> tuple[AbstractChannel, Alarm]:
        async with self._opening:
            if self._alarm is None or self._published_on is not connection:
                self._alarm = Alarm(connection)
                self._publisher, self._published_on = None, connection
            if self._publisher is None or self._publisher.is_closed:
                self._publisher = await open_channel(connection)
            return self._publisher, self._alarm


def _failure(
    failed_posts: Sequence[tuple[Post, BaseException]], stored_ids: set[str]
) -> BaseException:
    """Return the error for unconfirmed messages.

    A lost connection takes precedence over refusals, because the state of the rest is then unknown.
    """
    for _, error in failed_posts:
        if not isinstance(error, DeliveryError):
            unavailable = translate_error(error)
            what = unavailable.what if isinstance(unavailable, TransportUnavailable) else None
            return (
                unavailable if what is None else TransportUnavailable(what, stored_ids=stored_ids)
            )
    refused_destinations = {post.exchange for post, _ in failed_posts}
    return TransportUnavailable(
        f"RabbitMQ refuses messages for {', '.join(sorted(refused_destinations))}: a queue is full"
        " or cannot store now",
        stored_ids=stored_ids,
        refused_destinations=refused_destinations,
    )


def _has_succeeded(send_future: "asyncio.Future[Any]") -> bool:
    return send_future.done() and not send_future.cancelled() and send_future.exception() is None


def _id(post: Post) -> str:
    return post.message.message_id or ""


async def _close(connection: AbstractConnection) -> None:
    """Close a connection, without waiting long for a broker that does not read."""
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            await asyncio.gather(connection.close(), return_exceptions=True)
    except TimeoutError:
        log.warning("transport.connection_abandoned")


def _is_open(connection: AbstractConnection) -> bool:
    return not connection.is_closed and connection.connected.is_set()
