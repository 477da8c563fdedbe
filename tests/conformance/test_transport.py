"""What callers may rely on, whatever carries the messages; every test runs on PostgreSQL and on RabbitMQ."""

import asyncio
import sys
from collections.abc import AsyncIterator

import pytest

from sluice.servicekit.transport.base import Queue, Topology, Transport, TransportUnavailable, UnknownDestination
from sluice.servicekit.transport.open import UnknownTransport, open_transport
from tests.conformance.transport_kit import (
    DEADLINE,
    Broker,
    PostgresBroker,
    RabbitBroker,
    messages,
    receiving,
    send_stubbornly,
    started,
    until,
)

TOPOLOGY = Topology.of(
    Queue("work", delivery_limit=3),
    Queue("once", delivery_limit=1),
    Queue("audit", events=frozenset({"thing.made"})),
    Queue("mail", events=frozenset({"thing.made", "thing.lost"})),
    Queue("bell", events=frozenset({"thing.rung"}), wakes=True),
    events=["nobody.listens"],
)


@pytest.fixture(params=["postgres", "rabbitmq"])
def broker(request: pytest.FixtureRequest) -> Broker:
    if request.param == "postgres":
        return PostgresBroker(request.getfixturevalue("database_url"), request.getfixturevalue("postgres_server"))
    return RabbitBroker(request.getfixturevalue("rabbitmq_url"), request.getfixturevalue("rabbitmq_server"))


@pytest.fixture
async def transport(broker: Broker) -> AsyncIterator[Transport]:
    async with started(broker.url, TOPOLOGY) as one:
        yield one


async def test_what_was_sent_outlives_the_sender(broker: Broker) -> None:
    async with started(broker.url, TOPOLOGY) as sender:
        await sender.send(messages("a", "b"))
    async with started(broker.url, TOPOLOGY) as transport, receiving(transport) as receiver:
        got = await receiver.take(2)
    assert [(one.message_id, one.body, one.attempt) for one in got] == [("a", b'{"id": "a"}', 1), ("b", b'{"id": "b"}', 1)]


async def test_what_was_sent_outlives_a_restart_of_the_broker(broker: Broker, transport: Transport) -> None:
    """What was acknowledged a moment before the crash may come again: no broker confirms an acknowledgement."""
    async with receiving(transport) as receiver:
        await transport.send(messages("before"))
        await (await receiver.next()).ack()
        await broker.restart()
        await send_stubbornly(transport, messages("after"))
        while (again := await receiver.next()).message_id == "before":
            assert again.attempt > 1
            await again.ack()
        assert again.message_id == "after"


async def test_a_large_batch_arrives_complete_and_in_order(transport: Transport) -> None:
    ids = [str(number) for number in range(1200)]
    await transport.send(messages(*ids))
    got = []
    async with receiving(transport, prefetch=100) as receiver:
        for _ in ids:
            delivery = await receiver.next()
            got.append(delivery.message_id)
            await delivery.ack()
    assert got == ids


async def test_an_event_reaches_every_queue_that_takes_it(transport: Transport) -> None:
    await transport.send(
        [*messages("made", to="thing.made"), *messages("lost", to="thing.lost"), *messages("x", to="nobody.listens")]
    )
    async with receiving(transport, "audit") as audit, receiving(transport, "mail") as mail:
        assert (await audit.next()).message_id == "made"
        assert {one.message_id for one in await mail.take(2)} == {"made", "lost"}
        assert audit.nothing_waits()


async def test_an_unknown_destination_is_refused_before_anything_is_sent(transport: Transport) -> None:
    with pytest.raises(UnknownDestination, match="wrok"):
        await transport.send([*messages("a"), *messages("b", to="wrok")])
    assert await transport.depth("work") == 0
    with pytest.raises(UnknownDestination):
        transport.consume("thing.made", prefetch=1)
    for question in (transport.depth, transport.count_dead, transport.requeue, transport.drop):
        with pytest.raises(UnknownDestination):
            await question("wrok")


async def test_an_acknowledged_message_never_comes_again(broker: Broker, transport: Transport) -> None:
    async with receiving(transport) as receiver:
        await transport.send(messages("a"))
        await (await receiver.next()).ack()
    await transport.send(messages("marker"))
    async with started(broker.url, TOPOLOGY) as other, receiving(other) as receiver:
        assert (await receiver.next()).message_id == "marker"
        assert receiver.nothing_waits()


async def test_closing_the_consumer_hands_back_what_is_unanswered(transport: Transport) -> None:
    await transport.send(messages("a"))
    async with receiving(transport) as receiver:
        late = await receiver.next()
    async with receiving(transport) as receiver:
        again = await receiver.next()
        assert (again.message_id, again.attempt) == ("a", 2)
        await late.ack()  # too late: changes nothing and raises nothing
    async with receiving(transport) as receiver:
        assert (await receiver.next()).attempt == 3


async def test_a_retried_message_rests_and_does_not_hold_up_others(transport: Transport) -> None:
    await transport.send(messages("bad"))
    async with receiving(transport, prefetch=1) as receiver:
        first = await receiver.next()
        await first.retry("busy")
        second = await receiver.next()
        assert (second.message_id, second.attempt) == ("bad", 2)
        await second.retry("busy")
        await transport.send(messages("good"))
        other = await receiver.next()
        assert other.message_id == "good"
        await other.ack()
        third = await receiver.next()
        assert (third.message_id, third.attempt) == ("bad", 3)
        await third.ack()


async def test_the_last_retry_makes_a_dead_letter_with_its_reason(transport: Transport) -> None:
    await transport.send(messages("bad"))
    async with receiving(transport) as receiver:
        for attempt in (1, 2, 3):
            delivery = await receiver.next()
            assert delivery.attempt == attempt
            await delivery.retry(f"failure {attempt}")
        [letter] = await transport.dead_letters("work", limit=10)
        assert receiver.nothing_waits()
    assert (letter.id, letter.queue, letter.body, letter.reason) == ("bad", "work", b'{"id": "bad"}', "failure 3")
    assert letter.died_at is not None
    assert await transport.depth("work") == 0


async def test_a_limit_of_one_allows_one_delivery(transport: Transport) -> None:
    await transport.send(messages("a", "b", to="once"))
    async with receiving(transport, "once") as receiver:
        await (await receiver.next()).retry("no second chance")
        await receiver.next()
    # The other one went unanswered; whoever consumes next does not get it.
    async with receiving(transport, "once") as receiver:
        await until(lambda: _dead(transport, "once", 2))
        assert receiver.nothing_waits()
    letters = {letter.id: letter.reason for letter in await transport.dead_letters("once", limit=10)}
    assert letters == {"a": "no second chance", "b": "handed out 1 times without an acknowledgement"}


async def test_a_message_that_nobody_answers_dies_of_its_limit(transport: Transport) -> None:
    await transport.send(messages("poison"))
    for attempt in (1, 2, 3):
        async with receiving(transport) as receiver:
            assert (await receiver.next()).attempt == attempt
    async with receiving(transport) as receiver:
        await until(lambda: _dead(transport, "work", 1))
        assert receiver.nothing_waits()
    [letter] = await transport.dead_letters("work", limit=10)
    assert (letter.id, letter.reason) == ("poison", "handed out 3 times without an acknowledgement")
    assert letter.died_at is not None


async def test_retries_and_silence_count_together(transport: Transport) -> None:
    await transport.send(messages("mixed"))
    async with receiving(transport) as receiver:
        await (await receiver.next()).retry("first")
        assert (await receiver.next()).attempt == 2
    async with receiving(transport) as receiver:
        last = await receiver.next()
        assert last.attempt == 3
    async with receiving(transport) as receiver:
        await until(lambda: _dead(transport, "work", 1))
        assert receiver.nothing_waits()
    [letter] = await transport.dead_letters("work", limit=10)
    assert letter.reason == "handed out 3 times without an acknowledgement; last failure: first"


async def test_a_rejected_message_dies_at_once_and_stays_to_be_looked_at(transport: Transport) -> None:
    await transport.send(messages("a", "b", "c"))
    async with receiving(transport) as receiver:
        for delivery in await receiver.take(3):
            await delivery.reject(f"{delivery.message_id} makes no sense")
    for _ in range(2):
        letters = await transport.dead_letters("work", limit=2)
        assert [(letter.id, letter.reason) for letter in letters] == [("a", "a makes no sense"), ("b", "b makes no sense")]
    assert len(await transport.dead_letters("work", limit=10)) == 3


async def test_a_message_to_wake_reaches_its_queue(transport: Transport) -> None:
    await transport.send(messages("ring", to="thing.rung"))
    async with receiving(transport, "bell") as bell:
        await (await bell.next()).reject("out of tune")
    assert await transport.count_dead("bell") == 1


async def test_any_reason_can_be_kept(transport: Transport) -> None:
    await transport.send(messages("long", "odd"))
    async with receiving(transport) as receiver:
        for delivery, reason in zip(await receiver.take(2), ["x" * 1_000_000, "no\x00thing \x1b[31m red\nnew line"], strict=True):
            await delivery.retry(reason)
            again = await receiver.next()
            assert (again.message_id, again.attempt) == (delivery.message_id, 2)
            await again.reject(reason)
    long, odd = await transport.dead_letters("work", limit=2)
    assert long.reason == "x" * 1999 + "…"
    assert odd.reason == "no\N{REPLACEMENT CHARACTER}thing \N{REPLACEMENT CHARACTER}[31m red\nnew line"


async def test_a_requeued_letter_comes_as_if_sent_anew(transport: Transport) -> None:
    await transport.send(messages("bad"))
    async with receiving(transport) as receiver:
        for _ in range(3):
            await (await receiver.next()).retry("not yet mended")
        assert await transport.count_dead("work") == 1
        assert await transport.requeue("work") == 1
        for attempt in (1, 2, 3):
            delivery = await receiver.next()
            assert (delivery.message_id, delivery.body, delivery.attempt) == ("bad", b'{"id": "bad"}', attempt)
            await delivery.retry(f"failure {attempt} of the second round")
    [letter] = await transport.dead_letters("work", limit=10)
    assert letter.reason == "failure 3 of the second round"


async def test_a_letter_that_nobody_answered_is_requeued_anew(transport: Transport) -> None:
    await transport.send(messages("silent", to="once"))
    async with receiving(transport, "once") as receiver:
        await receiver.next()
    async with receiving(transport, "once") as receiver:
        await until(lambda: _dead(transport, "once", 1))
        assert await transport.requeue("once", ["silent"]) == 1
        assert (await receiver.next()).attempt == 1


async def test_letters_are_chosen_by_id_and_the_others_stay_in_order(transport: Transport) -> None:
    await _kill(transport, *"abcdef")
    assert await transport.requeue("work", ["b", "e", "unknown"]) == 2
    assert await transport.drop("work", {"c"}) == 1
    assert [letter.id for letter in await transport.dead_letters("work", limit=10)] == ["a", "d", "f"]
    assert await transport.count_dead("work") == 3
    assert await transport.requeue("work", []) == 0
    async with receiving(transport) as receiver:
        assert [one.message_id for one in await receiver.take(2)] == ["b", "e"]
        assert receiver.nothing_waits()


async def test_all_letters_are_dropped_or_put_back_those_of_other_queues_excepted(transport: Transport) -> None:
    await _kill(transport, "a", "b")
    await _kill(transport, "other", queue="audit")
    assert await transport.drop("work") == 2
    assert (await transport.count_dead("work"), await transport.depth("work")) == (0, 0)
    assert await transport.requeue("work") == 0
    assert await transport.requeue("audit") == 1
    async with receiving(transport, "audit") as receiver:
        assert (await receiver.next()).message_id == "other"


async def test_many_letters_are_put_back_in_order(transport: Transport) -> None:
    ids = [f"{number:04}" for number in range(1200)]
    await _kill(transport, *ids)
    assert [letter.id for letter in await transport.dead_letters("work", limit=700)] == ids[:700]
    assert await transport.requeue("work") == 1200
    async with receiving(transport, prefetch=2000) as receiver:
        assert [one.message_id for one in await receiver.take(1200)] == ids


async def test_putting_back_what_dies_again_at_once_comes_to_an_end(transport: Transport) -> None:
    ids = [f"{number:04}" for number in range(600)]
    await _kill(transport, *ids)
    seen: list[str] = []

    async def refuse() -> None:
        async for batch in transport.consume("work", prefetch=100):
            for delivery in batch:
                seen.append(delivery.message_id)
                await delivery.reject("again")

    refusing = asyncio.create_task(refuse())
    async with asyncio.timeout(DEADLINE):
        assert await transport.requeue("work") == 600
    await until(lambda: _dead(transport, "work", 600))
    refusing.cancel()
    await asyncio.gather(refusing, return_exceptions=True)
    assert sorted(seen) == ids


async def test_a_cut_while_letters_are_put_back_loses_none(broker: Broker, transport: Transport) -> None:
    ids = {f"{number:04}" for number in range(3000)}
    await _kill(transport, *sorted(ids))
    got: set[str] = set()

    async def work() -> None:
        async for batch in transport.consume("work", prefetch=200):
            got.update(delivery.message_id for delivery in batch)
            await asyncio.gather(*(delivery.ack() for delivery in batch))

    working = asyncio.create_task(work())

    async def put_back() -> bool:
        try:
            await transport.requeue("work")
            return await transport.count_dead("work") == 0
        except TransportUnavailable:
            return False

    async def cut() -> None:
        await until(lambda: _some(got))
        await broker.cut()

    cutting = asyncio.create_task(cut())
    await until(put_back)
    await cutting
    await until(put_back)

    async def complete() -> bool:
        return got == ids

    await until(complete)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


async def test_messages_of_a_killed_consumer_come_again(broker: Broker, transport: Transport) -> None:
    await transport.send(messages("a", "b"))
    program = [sys.executable, "-m", "tests.conformance.hold_messages", broker.url, "work", "2"]
    victim = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    assert victim.stdout is not None
    async with asyncio.timeout(DEADLINE):
        while not (line := await victim.stdout.readline()).startswith(b"held"):
            assert line, "the consumer ended by itself"
    assert line.split() == [b"held", b"a", b"b"]
    async with receiving(transport) as receiver:
        assert await transport.depth("work") == 0
        victim.kill()
        await victim.communicate()
        got = await receiver.take(2)
    assert {(one.message_id, one.attempt) for one in got} == {("a", 2), ("b", 2)}


async def test_a_consumer_holds_no_more_than_its_bound(broker: Broker, transport: Transport) -> None:
    ids = [str(number) for number in range(10)]
    async with started(broker.url, TOPOLOGY) as other, receiving(transport, prefetch=3) as bounded:
        await transport.send(messages(*ids))
        held = await bounded.take(3)
        async with receiving(other, prefetch=20) as rest:
            got = await rest.take(7)
            assert {one.message_id for one in [*held, *got]} == set(ids)
            assert bounded.nothing_waits()
            for delivery in got:
                await delivery.ack()
        await held[0].ack()
        await transport.send(messages("next", "one too many"))
        assert (await bounded.next()).message_id == "next"
        assert await transport.depth("work") == 1


async def test_two_consumers_share_without_doubles(broker: Broker, transport: Transport) -> None:
    ids = [str(number) for number in range(400)]
    seen: list[str] = []
    all_seen = asyncio.Event()

    async def work(one: Transport) -> None:
        async for batch in one.consume("work", prefetch=5):
            for delivery in batch:
                seen.append(delivery.message_id)
                await delivery.ack()
            if len(seen) >= len(ids):
                all_seen.set()

    async with started(broker.url, TOPOLOGY) as other, asyncio.timeout(DEADLINE):
        workers = [asyncio.create_task(work(one)) for one in (transport, other, transport)]
        await transport.send(messages(*ids))
        await all_seen.wait()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    assert sorted(seen, key=int) == ids


async def test_lost_connections_lose_no_message(broker: Broker, transport: Transport) -> None:
    got: set[str] = set()

    async def work() -> None:
        async for batch in transport.consume("mail", prefetch=10):
            for delivery in batch:
                got.add(delivery.message_id)
                await delivery.ack()

    worker = asyncio.create_task(work())
    expected = set()
    for round_number in range(3):
        ids = [f"{round_number}-{number}" for number in range(60)]
        expected.update(ids)
        cutting = asyncio.create_task(broker.cut())
        for one in ids:
            await send_stubbornly(transport, messages(one, to="thing.made"))
        await cutting
    await send_stubbornly(transport, messages("end", to="mail"))

    async def complete() -> bool:
        return got == expected | {"end"}

    await until(complete)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    assert await transport.dead_letters("mail", limit=1) == []


async def test_answers_without_a_link_raise_nothing_and_the_message_comes_again(broker: Broker, transport: Transport) -> None:
    await transport.send(messages("a", "b", "c"))
    async with started(broker.url, TOPOLOGY) as lost:
        receiver = receiving(lost)
        deliveries = await (await receiver.__aenter__()).take(3)
        await lost.stop()
        await deliveries[0].ack()
        await deliveries[1].retry("later")
        await deliveries[2].reject("never")
        await receiver.__aexit__(None, None, None)
    async with receiving(transport) as again:
        assert {one.message_id for one in await again.take(3)} == {"a", "b", "c"}


async def test_depth_counts_what_waits(transport: Transport) -> None:
    await transport.send(messages("a", "b", "c"))
    assert await transport.depth("work") == 3
    async with receiving(transport, prefetch=2) as receiver:
        await receiver.take(2)
        assert await transport.depth("work") == 1


async def test_stopping_ends_consumption_and_may_be_repeated(transport: Transport) -> None:
    async with receiving(transport) as receiver:
        await transport.send(messages("a"))
        await receiver.next()
        await transport.stop()
        async with asyncio.timeout(DEADLINE):
            await receiver.task  # ends by itself, without an error
    await transport.stop()
    with pytest.raises(TransportUnavailable):
        await transport.send(messages("b"))
    with pytest.raises(TransportUnavailable):
        await transport.ping()


async def test_several_instances_may_start_at_once(broker: Broker) -> None:
    several = [open_transport(broker.url, TOPOLOGY) for _ in range(5)]
    await asyncio.gather(*(one.start() for one in several))
    await asyncio.gather(*(one.ping() for one in several))
    await asyncio.gather(*(one.stop() for one in several))


async def test_starting_without_a_broker_says_so(broker: Broker) -> None:
    transport = open_transport(broker.dead_url, TOPOLOGY)
    with pytest.raises(TransportUnavailable):
        await transport.start()
    await transport.stop()


def test_a_url_of_another_kind_is_refused() -> None:
    with pytest.raises(UnknownTransport, match=r"'redis'.*postgresql://.*amqp://"):
        open_transport("redis://localhost", TOPOLOGY)


async def _dead(transport: Transport, queue: str, count: int) -> bool:
    return await transport.count_dead(queue) == count


async def _some(got: set[str]) -> bool:
    return bool(got)


async def _kill(transport: Transport, *ids: str, queue: str = "work") -> None:
    """Makes dead letters of them, in this order."""
    await transport.send(messages(*ids, to=queue))
    async with receiving(transport, queue, prefetch=len(ids)) as receiver:
        for _ in ids:
            await (await receiver.next()).reject("it cannot be")
    await until(lambda: _dead(transport, queue, len(ids)))
