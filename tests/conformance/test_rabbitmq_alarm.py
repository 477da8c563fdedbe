"""A RabbitMQ broker whose disk is full takes no messages."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sluice.servicekit.transport.base import Transport, TransportUnavailable
from sluice.servicekit.web.http import Health
from tests.conformance.transport_kit import (
    TOPOLOGY,
    Receiver,
    messages,
    receiving,
    send_stubbornly,
    started,
    until,
)
from tests.servers.rabbitmq import RabbitServer

pytestmark = pytest.mark.long("each change of the broker's limits takes seconds")


class Disk:
    """The disk of the broker, as the broker sees it."""

    def __init__(self, server: RabbitServer) -> None:
        self._server = server

    async def fill(self) -> None:
        await self._leave("9000GB")

    async def empty(self) -> None:
        await self._leave("50MB")

    async def _leave(self, limit: str) -> None:
        await asyncio.to_thread(self._server.machinery.control, "set_disk_free_limit", limit)


@pytest.fixture
async def disk(rabbitmq_server: RabbitServer) -> AsyncIterator[Disk]:
    disk = Disk(rabbitmq_server)
    yield disk
    await disk.empty()


@pytest.fixture
async def transport(rabbitmq_url: str) -> AsyncIterator[Transport]:
    async with started(rabbitmq_url, TOPOLOGY) as one:
        yield one


async def arrives(receiver: Receiver, *ids: str) -> None:
    """Take deliveries until each of these messages has arrived; duplicates are allowed."""
    missing = set(ids)
    while missing:
        delivery = await receiver.next()
        missing.discard(delivery.message_id)
        await delivery.ack()


async def takes_messages(transport: Transport) -> bool:
    try:
        await transport.ping()
    except TransportUnavailable:
        return False
    return True


async def test_full_disk_of_the_broker_is_named_until_it_has_space(
    transport: Transport, disk: Disk
) -> None:
    await transport.send(messages("before"))
    await disk.fill()

    for attempt in ("first", "second"):
        with pytest.raises(TransportUnavailable, match="the message broker's disk is full") as full:
            await transport.send(messages(attempt))
        assert full.value.stored_ids == frozenset()
    readiness = await Health({"transport": transport.ping}).report()
    assert readiness["transport"].startswith("the message broker's disk is full: messages wait")

    await disk.empty()
    await until(lambda: takes_messages(transport))
    await send_stubbornly(transport, messages("first", "second"))
    async with receiving(transport) as receiver:
        await arrives(receiver, "before", "first", "second")


async def test_message_that_must_be_retried_survives_a_full_disk(
    transport: Transport, disk: Disk
) -> None:
    await transport.send(messages("one"))
    async with receiving(transport) as receiver:
        delivery = await receiver.next()
        await disk.fill()
        with pytest.raises(TransportUnavailable):
            await transport.send(messages("two"))
        retrying = asyncio.create_task(delivery.retry("not now"))
        await transport.depth("work")  # The broker has answered a later request.
        assert not retrying.done(), "an immediate redelivery would use up all attempts"

        await disk.empty()
        await retrying
        await arrives(receiver, "one")
    assert await transport.count_dead("work") == 0
