"""Guarantees of the transport, on PostgreSQL and on RabbitMQ."""

import asyncio
import sys

import pytest

from sluice.servicekit.transport.base import Transport, TransportUnavailable, UnknownDestination
from sluice.servicekit.transport.open import UnknownTransport, open_transport
from tests.conformance.transport_kit import (
    DEADLINE,
    TOPOLOGY,
    Broker,
    has_dead_letters,
    make_messages,
    require_no_other_message,
    send_until_accepted,
    start_receiver,
    start_transport,
    wait_for,
)


async def test_sent_messages_outlive_the_sender(broker: Broker) -> None:
    async with start_transport(broker.url, TOPOLOGY) as sender:
        await sender.send(make_messages("a", "b"))
    async with (
        start_transport(broker.url, TOPOLOGY) as transport,
        start_receiver(transport) as receiver,
    ):
        received = await receiver.take(2)
    assert [(one.message_id, one.body, one.attempt) for one in received] == [
        ("a", b'{"id": "a"}', 1),
        ("b", b'{"id": "b"}', 1),
    ]


async def test_sent_messages_outlive_a_restart_of_the_broker(
    broker: Broker, transport: Transport
) -> None:
    """A message acknowledged just before the crash may come again, as acknowledgements are not
    confirmed.
    """
    async with start_receiver(transport) as receiver:
        await transport.send(make_messages("before"))
        await (await receiver.next()).ack()
        await broker.restart()
        await send_until_accepted(transport, make_messages("after"))
        while (again := await receiver.next()).message_id == "before":
            assert again.attempt > 1
            await again.ack()
        assert again.message_id == "after"


async def test_large_batch_arrives_complete_and_in_order(transport: Transport) -> None:
    ids = [str(number) for number in range(1200)]
    await transport.send(make_messages(*ids))
    received = []
    async with start_receiver(transport, prefetch=100) as receiver:
        for _ in ids:
            delivery = await receiver.next()
            received.append(delivery.message_id)
            await delivery.ack()
    assert received == ids


async def test_event_reaches_every_queue_that_subscribes_to_it(transport: Transport) -> None:
    await transport.send(
        [
            *make_messages("made", to="thing.made"),
            *make_messages("lost", to="thing.lost"),
            *make_messages("x", to="nobody.listens"),
        ]
    )
    async with (
        start_receiver(transport, "audit") as audit,
        start_receiver(transport, "mail") as mail,
    ):
        assert (await audit.next()).message_id == "made"
        assert {one.message_id for one in await mail.take(2)} == {"made", "lost"}
        await transport.send(make_messages("last", to="thing.made"))
        assert [(await one.next()).message_id for one in (audit, mail)] == ["last", "last"]


async def test_unknown_destination_is_refused_before_anything_is_sent(
    transport: Transport,
) -> None:
    with pytest.raises(UnknownDestination, match="wrok"):
        await transport.send([*make_messages("a"), *make_messages("b", to="wrok")])
    assert await transport.depth("work") == 0
    with pytest.raises(UnknownDestination):
        transport.consume("thing.made", prefetch=1)
    for question in (transport.depth, transport.count_dead, transport.requeue, transport.drop):
        with pytest.raises(UnknownDestination):
            await question("wrok")


async def test_acknowledged_message_never_comes_again(broker: Broker, transport: Transport) -> None:
    async with start_receiver(transport) as receiver:
        await transport.send(make_messages("a"))
        await (await receiver.next()).ack()
    await transport.send(make_messages("marker"))
    async with start_transport(broker.url, TOPOLOGY) as other, start_receiver(other) as receiver:
        assert (await receiver.next()).message_id == "marker"
        assert receiver.is_empty()


async def test_closed_consumer_returns_unanswered_messages(transport: Transport) -> None:
    await transport.send(make_messages("a"))
    async with start_receiver(transport) as receiver:
        late = await receiver.next()
    async with start_receiver(transport) as receiver:
        again = await receiver.next()
        assert (again.message_id, again.attempt) == ("a", 2)
        await late.ack()  # The acknowledgement is too late: it changes nothing and raises nothing.
    async with start_receiver(transport) as receiver:
        assert (await receiver.next()).attempt == 3


async def test_retried_message_is_delayed_and_does_not_block_others(transport: Transport) -> None:
    await transport.send(make_messages("bad"))
    async with start_receiver(transport, prefetch=1) as receiver:
        first = await receiver.next()
        await first.retry("busy")
        second = await receiver.next()
        assert (second.message_id, second.attempt) == ("bad", 2)
        await second.retry("busy")
        await transport.send(make_messages("good"))
        other = await receiver.next()
        assert other.message_id == "good"
        await other.ack()
        third = await receiver.next()
        assert (third.message_id, third.attempt) == ("bad", 3)
        await third.ack()


async def test_last_retry_makes_a_dead_letter_with_its_reason(transport: Transport) -> None:
    await transport.send(make_messages("bad"))
    async with start_receiver(transport) as receiver:
        for attempt in (1, 2, 3):
            delivery = await receiver.next()
            assert delivery.attempt == attempt
            await delivery.retry(f"failure {attempt}")
        [letter] = await transport.dead_letters("work", limit=10)
        await require_no_other_message(transport, receiver, "work")
    assert (letter.id, letter.queue, letter.body, letter.reason) == (
        "bad",
        "work",
        b'{"id": "bad"}',
        "failure 3",
    )
    assert letter.died_at is not None
    assert await transport.depth("work") == 0


async def test_delivery_limit_of_one_allows_one_delivery(transport: Transport) -> None:
    await transport.send(make_messages("a", "b", to="once"))
    async with start_receiver(transport, "once") as receiver:
        await (await receiver.next()).retry("no second chance")
        await receiver.next()
    # The other message was not answered; the next consumer does not get it.
    async with start_receiver(transport, "once") as receiver:
        await wait_for(lambda: has_dead_letters(transport, "once", 2))
        await require_no_other_message(transport, receiver, "once")
    letters = {
        letter.id: letter.reason for letter in await transport.dead_letters("once", limit=10)
    }
    assert letters == {
        "a": "no second chance",
        "b": "handed out 1 times without an acknowledgement",
    }


async def test_unanswered_message_dies_at_its_delivery_limit(transport: Transport) -> None:
    await transport.send(make_messages("poison"))
    for attempt in (1, 2, 3):
        async with start_receiver(transport) as receiver:
            assert (await receiver.next()).attempt == attempt
    async with start_receiver(transport) as receiver:
        await wait_for(lambda: has_dead_letters(transport, "work", 1))
        await require_no_other_message(transport, receiver, "work")
    [letter] = await transport.dead_letters("work", limit=10)
    assert (letter.id, letter.reason) == ("poison", "handed out 3 times without an acknowledgement")
    assert letter.died_at is not None


async def test_retries_and_unanswered_deliveries_count_together(transport: Transport) -> None:
    await transport.send(make_messages("mixed"))
    async with start_receiver(transport) as receiver:
        await (await receiver.next()).retry("first")
        assert (await receiver.next()).attempt == 2
    async with start_receiver(transport) as receiver:
        last = await receiver.next()
        assert last.attempt == 3
    async with start_receiver(transport) as receiver:
        await wait_for(lambda: has_dead_letters(transport, "work", 1))
        await require_no_other_message(transport, receiver, "work")
    [letter] = await transport.dead_letters("work", limit=10)
    assert letter.reason == "handed out 3 times without an acknowledgement; last failure: first"


async def test_rejected_message_becomes_a_dead_letter_at_once(
    transport: Transport,
) -> None:
    await transport.send(make_messages("a", "b", "c"))
    async with start_receiver(transport) as receiver:
        for delivery in await receiver.take(3):
            await delivery.reject(f"{delivery.message_id} makes no sense")
    for _ in range(2):
        letters = await transport.dead_letters("work", limit=2)
        assert [(letter.id, letter.reason) for letter in letters] == [
            ("a", "a makes no sense"),
            ("b", "b makes no sense"),
        ]
    assert len(await transport.dead_letters("work", limit=10)) == 3


async def test_messages_of_a_killed_consumer_come_again(
    broker: Broker, transport: Transport
) -> None:
    await transport.send(make_messages("a", "b"))
    program = [sys.executable, "-m", "tests.conformance.hold_messages", broker.url, "work", "2"]
    victim = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    assert victim.stdout is not None
    async with asyncio.timeout(DEADLINE):
        while not (line := await victim.stdout.readline()).startswith(b"held"):
            assert line, "the consumer ended early"
    assert line.split() == [b"held", b"a", b"b"]
    async with start_receiver(transport) as receiver:
        assert await transport.depth("work") == 0
        victim.kill()
        await victim.communicate()
        received = await receiver.take(2)
    assert {(one.message_id, one.attempt) for one in received} == {("a", 2), ("b", 2)}


async def test_consumer_has_no_more_messages_than_its_prefetch(
    broker: Broker, transport: Transport
) -> None:
    ids = [str(number) for number in range(10)]
    async with (
        start_transport(broker.url, TOPOLOGY) as other,
        start_receiver(transport, prefetch=3) as limited_receiver,
    ):
        await transport.send(make_messages(*ids))
        unacknowledged = await limited_receiver.take(3)
        async with start_receiver(other, prefetch=20) as rest:
            received = await rest.take(7)
            assert {one.message_id for one in [*unacknowledged, *received]} == set(ids)
            assert limited_receiver.is_empty()
            for delivery in received:
                await delivery.ack()
        await unacknowledged[0].ack()
        await transport.send(make_messages("next", "one too many"))
        assert (await limited_receiver.next()).message_id == "next"
        assert await transport.depth("work") == 1


async def test_two_consumers_share_messages_without_duplicates(
    broker: Broker, transport: Transport
) -> None:
    ids = [str(number) for number in range(400)]
    message_ids: list[str] = []
    all_seen = asyncio.Event()

    async def consume(one: Transport) -> None:
        async for batch in one.consume("work", prefetch=5):
            for delivery in batch:
                message_ids.append(delivery.message_id)
                await delivery.ack()
            if len(message_ids) >= len(ids):
                all_seen.set()

    async with start_transport(broker.url, TOPOLOGY) as other, asyncio.timeout(DEADLINE):
        workers = [asyncio.create_task(consume(one)) for one in (transport, other, transport)]
        await transport.send(make_messages(*ids))
        await all_seen.wait()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    assert sorted(message_ids, key=int) == ids


async def test_lost_connections_lose_no_message(broker: Broker, transport: Transport) -> None:
    received: set[str] = set()

    async def consume() -> None:
        async for batch in transport.consume("mail", prefetch=10):
            for delivery in batch:
                received.add(delivery.message_id)
                await delivery.ack()

    worker = asyncio.create_task(consume())
    expected = set()
    forwarder, url = broker.start_forwarder()
    await forwarder.open()
    async with start_transport(url, TOPOLOGY) as sender:
        for round_number in range(3):
            ids = [f"{round_number}-{number}" for number in range(60)]
            expected.update(ids)
            cutting = asyncio.create_task(broker.cut_connections())
            forwarder.cut_after(2000)
            failures = [
                await send_until_accepted(sender, make_messages(one, to="thing.made"))
                for one in ids
            ]
            await cutting
            assert any(failures), "no connection was lost during a send"
        await send_until_accepted(sender, make_messages("end", to="mail"))
    await forwarder.close()

    async def has_all_messages() -> bool:
        return received == expected | {"end"}

    await wait_for(has_all_messages)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert await transport.dead_letters("mail", limit=1) == []


async def test_answers_without_a_connection_raise_nothing_and_messages_come_again(
    broker: Broker, transport: Transport
) -> None:
    await transport.send(make_messages("a", "b", "c"))
    async with start_transport(broker.url, TOPOLOGY) as cut_transport:
        receiver = start_receiver(cut_transport)
        deliveries = await (await receiver.__aenter__()).take(3)
        await cut_transport.stop()
        await deliveries[0].ack()
        await deliveries[1].retry("later")
        await deliveries[2].reject("never")
        await receiver.__aexit__(None, None, None)
    async with start_receiver(transport) as again:
        assert {one.message_id for one in await again.take(3)} == {"a", "b", "c"}


async def test_depth_counts_waiting_messages(transport: Transport) -> None:
    await transport.send(make_messages("a", "b", "c"))
    assert await transport.depth("work") == 3
    async with start_receiver(transport, prefetch=2) as receiver:
        await receiver.take(2)
        assert await transport.depth("work") == 1


async def test_stop_ends_consumption_and_may_be_repeated(transport: Transport) -> None:
    async with start_receiver(transport) as receiver:
        await transport.send(make_messages("a"))
        await receiver.next()
        await transport.stop()
        async with asyncio.timeout(DEADLINE):
            await receiver.task  # The task ends without an error.
    await transport.stop()
    with pytest.raises(TransportUnavailable):
        await transport.send(make_messages("b"))
    with pytest.raises(TransportUnavailable):
        await transport.ping()


async def test_several_instances_may_start_at_the_same_time(broker: Broker) -> None:
    several = [open_transport(broker.url, TOPOLOGY) for _ in range(5)]
    await asyncio.gather(*(one.start() for one in several))
    async with start_receiver(several[0]) as receiver:
        for number, one in enumerate(several):
            await one.send(make_messages(str(number)))
        assert [received.message_id for received in await receiver.take(5)] == list("01234")
    await asyncio.gather(*(one.stop() for one in several))


async def test_start_without_a_broker_is_reported(broker: Broker) -> None:
    transport = open_transport(broker.dead_url, TOPOLOGY)
    with pytest.raises(TransportUnavailable):
        await transport.start()
    await transport.stop()


def test_url_with_another_scheme_is_refused() -> None:
    with pytest.raises(UnknownTransport, match=r"'redis'.*postgresql://.*amqp://"):
        open_transport("redis://localhost", TOPOLOGY)
