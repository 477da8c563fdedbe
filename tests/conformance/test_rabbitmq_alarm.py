"""A RabbitMQ broker whose disk is full takes no messages."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sluice.servicekit.transport.base import Transport, TransportUnavailable
from sluice.servicekit.web.http import Health
from tests.conformance.transport_kit import (
    TOPOLOGY,
    Receiver,
    make_messages,
    send_until_accepted,
    start_receiver,
    start_transport,
    wait_for,
)
from tests.servers.rabbitmq import RabbitServer

pytestmark = pytest.mark.long("each change of the broker's limits takes seconds")


class BrokerDisk:
    """The disk of the broker, as the broker sees it."""

    def __init__(self, server: RabbitServer) -> None:
        self._server = server

    async def fill(self) -> None:
        await self._set_limit("9000GB")

    async def empty(self) -> None:
        await self._set_limit("50MB")

    async def _set_limit(self, limit: str) -> None:
        await asyncio.to_thread(self._server.processes.control, "set_disk_free_limit", limit)


@pytest.fixture
async def disk(rabbitmq_server: RabbitServer) -> AsyncIterator[BrokerDisk]:
    disk = BrokerDisk(rabbitmq_server)
    yield disk
    await disk.empty()


@pytest.fixture
async def transport(rabbitmq_url: str) -> AsyncIterator[Transport]:
    async with start_transport(rabbitmq_url, TOPOLOGY) as one:
        yield one


async def wait_for_arrival(receiver: Receiver, *ids: str) -> None:
    """Take deliveries until each of these messages has arrived; duplicates are allowed."""
    missing = set(ids)
    while missing:
        delivery = await receiver.next()
        missing.discard(delivery.message_id)
        await delivery.ack()


async def accepts_messages(transport: Transport) -> bool:
    try:
        await transport.ping()
    except TransportUnavailable:
        return False
    return True


async def test_full_disk_of_the_broker_is_named_until_it_has_space(
    transport: Transport, disk: BrokerDisk
) -> None:
    await transport.send(make_messages("before"))
    await disk.fill()

    for attempt in ("first", "second"):
        with pytest.raises(TransportUnavailable, match="the message broker's disk is full") as full:
            await transport.send(make_messages(attempt))
        assert full.value.stored_ids == frozenset()
    readiness = await Health({"transport": transport.ping}).report()
    assert readiness["transport"].startswith("the message broker's disk is full: messages wait")

    await disk.empty()
    await wait_for(lambda: accepts_messages(transport))
    await send_until_accepted(transport, make_messages("first", "second"))
    async with start_receiver(transport) as receiver:
        await wait_for_arrival(receiver, "before", "first", "second")


async def test_message_that_must_be_retried_survives_a_full_disk(
    transport: Transport, disk: BrokerDisk
) -> None:
    await transport.send(make_messages("one"))
    async with start_receiver(transport) as receiver:
        delivery = await receiver.next()
        await disk.fill()
        with pytest.raises(TransportUnavailable):
            await transport.send(make_messages("two"))
        retrying = asyncio.create_task(delivery.retry("not now"))
        await transport.depth("work")  # The broker has answered a later request.
        assert not retrying.done(), "an immediate redelivery would use up all attempts"

        await disk.empty()
        await retrying
        await wait_for_arrival(receiver, "one")
    assert await transport.count_dead("work") == 0
