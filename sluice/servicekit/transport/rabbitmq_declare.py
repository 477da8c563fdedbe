"""Declaration of a layout in a broker, or a check that it exists."""

from collections.abc import Awaitable

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import ChannelNotFoundEntity

from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.transport.rabbitmq_layout import Layout
from sluice.servicekit.transport.rabbitmq_link import answer, open_channel
from sluice.text.visible_text import quoted


async def declare(connection: AbstractConnection, layout: Layout) -> None:
    """Declare everything. A repetition changes nothing.

    Raises:
        TransportUnavailable: The broker does not answer or refuses.
    """
    channel = await open_channel(connection)
    await answer(_declare_all(channel, layout))
    await answer(channel.close())


async def check_declared(connection: AbstractConnection, layout: Layout) -> None:
    """Check that everything is declared. This needs no permission.

    Raises:
        TransportUnavailable: Something is missing. The message names the first such object.
    """
    channel = await open_channel(connection)
    for name in layout.exchanges:
        await _check_exists("exchange", name, channel)
    for queue in layout.queues:
        await _check_exists("queue", queue.name, channel)
    await answer(channel.close())


async def _declare_all(channel: AbstractChannel, layout: Layout) -> None:
    for name in layout.exchanges:
        await channel.declare_exchange(name, ExchangeType.FANOUT, durable=True)
    for queue in layout.queues:
        declared = await channel.declare_queue(
            queue.name, durable=True, arguments=dict(queue.arguments)
        )
        for source in queue.sources:
            await declared.bind(source, routing_key="")


async def _check_exists(kind: str, name: str, channel: AbstractChannel) -> None:
    declaration: Awaitable[object]
    declaration = (
        channel.declare_exchange(name, passive=True)
        if kind == "exchange"
        else channel.declare_queue(name, passive=True)
    )
    try:
        await answer(declaration)
    except TransportUnavailable as error:
        if not isinstance(error.__cause__, ChannelNotFoundEntity):
            raise
        raise TransportUnavailable(
            f"{kind} {quoted(name)} is not declared in the broker: an administrator has to run"
            " `sluice setup broker`"
        ) from error
