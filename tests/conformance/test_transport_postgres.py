"""Leases of the PostgreSQL transport: no duplicate for a slow handler, an end for a silent one."""

import asyncio

import asyncpg
import pytest

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport import postgres_consumer
from sluice.servicekit.transport.base import Topology
from tests.conformance.transport_kit import make_messages, start_receiver, start_transport, wait_for

TOPOLOGY = Topology.of(Queue("work", "tests"))


async def test_lease_is_renewed_while_the_consumer_lives(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_consumer, "LEASE", 0.6)
    monkeypatch.setattr(postgres_consumer, "POLL_INTERVAL", 0.1)
    database = await asyncpg.connect(database_url)
    ends = set()

    async def is_lease_renewed() -> bool:
        ends.add(await database.fetchval("SELECT due_at FROM sluice_transport.message"))
        return len(ends) == 7

    async with (
        start_transport(database_url, TOPOLOGY) as one,
        start_transport(database_url, TOPOLOGY) as other,
    ):
        await one.send(make_messages("slow"))
        async with start_receiver(one) as slow:
            delivery = await slow.next()
            async with start_receiver(other) as idle:
                await wait_for(
                    is_lease_renewed
                )  # Seven values mean six renewals, which take twice the first lease.
                assert idle.is_empty()
                assert slow.is_empty()
                assert await database.fetchval("SELECT attempts FROM sluice_transport.message") == 1
                await delivery.ack()
    assert await database.fetchval("SELECT count(*) FROM sluice_transport.message") == 0
    assert await database.fetchval("SELECT count(*) FROM sluice_transport.holder") == 0
    await database.close()


async def test_expired_lease_frees_the_message(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ignore_renewal(_: object) -> None:
        await asyncio.Event().wait()

    async with (
        start_transport(database_url, TOPOLOGY) as one,
        start_transport(database_url, TOPOLOGY) as other,
    ):
        await one.send(make_messages("kept"))
        with monkeypatch.context() as patch:
            patch.setattr(postgres_consumer, "LEASE", 0.3)
            patch.setattr(postgres_consumer.PostgresConsumer, "_renew", ignore_renewal)
            stuck = start_receiver(one, prefetch=1)
            late = await (await stuck.__aenter__()).next()
        # From here on leases are long and renewed, so that only the silent consumer's lease
        # expires.
        async with start_receiver(other) as idle:
            again = await idle.next()
            assert (again.message_id, again.attempt) == ("kept", 2)
            await late.retry("too late: changes nothing")
            await late.ack()
            await again.ack()
        await stuck.__aexit__(None, None, None)
        assert await one.depth("work") == 0
