"""Dead letters can be listed, requeued and dropped, on PostgreSQL and on RabbitMQ."""

import asyncio
from collections.abc import Collection

import pytest

from sluice.servicekit.transport.base import Transport, TransportUnavailable
from tests.conformance.transport_kit import (
    DEADLINE,
    TOPOLOGY,
    Broker,
    has_dead_letters,
    make_messages,
    require_no_other_message,
    start_receiver,
    start_transport,
    wait_for,
)
from tests.servers.forwarder import Forwarder


async def test_wake_up_message_reaches_its_queue(transport: Transport) -> None:
    await transport.send(make_messages("ring", to="thing.rung"))
    async with start_receiver(transport, "bell") as bell:
        await (await bell.next()).reject("out of tune")
    assert await transport.count_dead("bell") == 1


@pytest.mark.usefixtures("short_pauses")
async def test_reason_of_a_dead_letter_is_stored_shortened_and_escaped(
    transport: Transport,
) -> None:
    await transport.send(make_messages("long", "odd"))
    async with start_receiver(transport) as receiver:
        for delivery, reason in zip(
            await receiver.take(2),
            ["x" * 1_000_000, "no\x00thing \x1b[31m red\nnew line"],
            strict=True,
        ):
            await delivery.retry(reason)
            second_delivery = await receiver.next()
            assert (second_delivery.message_id, second_delivery.attempt) == (delivery.message_id, 2)
            await second_delivery.reject(reason)
    long, unusual_letter = await transport.dead_letters("work", limit=2)
    assert long.reason == "x" * 1999 + "…"
    assert (
        unusual_letter.reason
        == "no\N{REPLACEMENT CHARACTER}thing \N{REPLACEMENT CHARACTER}[31m red\nnew line"
    )


@pytest.mark.usefixtures("short_pauses")
async def test_requeued_letter_is_delivered_like_a_new_message(transport: Transport) -> None:
    await transport.send(make_messages("bad"))
    async with start_receiver(transport) as receiver:
        for _ in range(3):
            await (await receiver.next()).retry("not yet mended")
        assert await transport.count_dead("work") == 1
        assert await transport.requeue("work") == 1
        for attempt in (1, 2, 3):
            delivery = await receiver.next()
            assert (delivery.message_id, delivery.body, delivery.attempt) == (
                "bad",
                b'{"id": "bad"}',
                attempt,
            )
            await delivery.retry(f"failure {attempt} of the second round")
    [letter] = await transport.dead_letters("work", limit=10)
    assert letter.reason == "failure 3 of the second round"


async def test_unanswered_letter_is_requeued_with_its_first_attempt(transport: Transport) -> None:
    await transport.send(make_messages("silent", to="once"))
    async with start_receiver(transport, "once") as receiver:
        await receiver.next()
    async with start_receiver(transport, "once") as receiver:
        await wait_for(lambda: has_dead_letters(transport, "once", 1))
        assert await transport.requeue("once", ["silent"]) == 1
        assert (await receiver.next()).attempt == 1


async def test_chosen_letters_are_requeued_and_the_others_keep_their_order(
    transport: Transport,
) -> None:
    await _make_dead_letters(transport, *"abcdef")
    assert await transport.requeue("work", ["b", "e", "unknown"]) == 2
    assert await transport.drop("work", {"c"}) == 1
    assert [letter.id for letter in await transport.dead_letters("work", limit=10)] == [
        "a",
        "d",
        "f",
    ]
    assert await transport.count_dead("work") == 3
    assert await transport.requeue("work", []) == 0
    async with start_receiver(transport) as receiver:
        assert [one.message_id for one in await receiver.take(2)] == ["b", "e"]
        await require_no_other_message(transport, receiver, "work")


async def test_all_letters_of_one_queue_are_dropped_or_requeued(
    transport: Transport,
) -> None:
    await _make_dead_letters(transport, "a", "b")
    await _make_dead_letters(transport, "other", queue="audit")
    assert await transport.drop("work") == 2
    assert (await transport.count_dead("work"), await transport.depth("work")) == (0, 0)
    assert await transport.requeue("work") == 0
    assert await transport.requeue("audit") == 1
    async with start_receiver(transport, "audit") as receiver:
        assert (await receiver.next()).message_id == "other"


async def test_many_letters_are_requeued_in_order(transport: Transport) -> None:
    ids = [f"{number:04}" for number in range(600)]
    await _make_dead_letters(transport, *ids)
    assert [letter.id for letter in await transport.dead_letters("work", limit=550)] == ids[:550]
    assert await transport.requeue("work") == 600
    async with start_receiver(transport, prefetch=1000) as receiver:
        assert [one.message_id for one in await receiver.take(600)] == ids


async def test_requeue_ends_although_letters_die_again_at_once(transport: Transport) -> None:
    ids = [f"{number:04}" for number in range(600)]
    await _make_unordered_dead_letters(transport, ids)
    message_ids: list[str] = []

    async def reject_deliveries() -> None:
        async for batch in transport.consume("work", prefetch=100):
            for delivery in batch:
                message_ids.append(delivery.message_id)
                await delivery.reject("again")

    refusing = asyncio.create_task(reject_deliveries())
    async with asyncio.timeout(DEADLINE):
        put_back = await transport.requeue("work")

    async def are_all_dead_letters() -> bool:
        # A letter whose refusal does not reach the broker before the consumer ends may die twice.
        return set(message_ids) == set(ids) and await transport.count_dead("work") >= len(ids)

    await wait_for(are_all_dead_letters)
    refusing.cancel()
    await asyncio.gather(refusing, return_exceptions=True)
    assert len(ids) <= put_back <= len(message_ids) < 2 * len(ids)


async def test_lost_connection_during_requeue_loses_no_letter(
    broker: Broker, transport: Transport
) -> None:
    ids = {f"{number:04}" for number in range(600)}
    await _make_unordered_dead_letters(transport, ids)
    received: set[str] = set()

    async def consume() -> None:
        async for batch in transport.consume("work", prefetch=200):
            received.update(delivery.message_id for delivery in batch)
            await asyncio.gather(*(delivery.ack() for delivery in batch))

    working = asyncio.create_task(consume())
    forwarder, url = broker.start_forwarder()
    await forwarder.open()
    async with start_transport(url, TOPOLOGY) as cut:
        failures = await _requeue_with_lost_connections(cut, forwarder)
    await forwarder.close()
    assert failures, "no connection was lost during a requeue"

    async def has_all_messages() -> bool:
        await transport.requeue("work")
        return received == ids

    await wait_for(has_all_messages)
    assert await transport.count_dead("work") == 0
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


async def _requeue_with_lost_connections(transport: Transport, forwarder: Forwarder) -> int:
    """Requeue letters while connections are lost, and return the number of failures."""
    failures = 0
    for size in (1, 1000, 10_000, 30_000):
        await wait_for(lambda: _is_connected(transport))
        forwarder.cut_after(size)
        try:
            async with asyncio.timeout(DEADLINE):
                await transport.requeue("work")
        except TransportUnavailable:
            failures += 1
    return failures


async def _is_connected(transport: Transport) -> bool:
    try:
        await transport.ping()
    except TransportUnavailable:
        return False
    return True


async def _make_dead_letters(transport: Transport, *ids: str, queue: str = "work") -> None:
    """Make dead letters with these ids, in this order."""
    await transport.send(make_messages(*ids, to=queue))
    async with start_receiver(transport, queue, prefetch=len(ids)) as receiver:
        for _ in ids:
            await (await receiver.next()).reject("it cannot be")
    await wait_for(lambda: has_dead_letters(transport, queue, len(ids)))


async def _make_unordered_dead_letters(transport: Transport, ids: Collection[str]) -> None:
    """Make dead letters with these ids, in any order."""
    await transport.send(make_messages(*ids))
    count = len(ids)
    async with start_receiver(transport, prefetch=count) as receiver:
        await asyncio.gather(*(one.reject("it cannot be") for one in await receiver.take(count)))
        await wait_for(lambda: has_dead_letters(transport, "work", count))
