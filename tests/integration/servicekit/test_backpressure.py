"""Messages for a slow consumer wait in the broker and then in the producers' databases."""

import asyncio
import sys
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg

from sluice.contracts.messaging.messages import (
    DMS_DELETIONS,
    DMS_FILES,
    DMS_UPLOADS,
    DeleteDataset,
    UploadDataset,
)
from sluice.servicekit.database import Database
from sluice.servicekit.messages.outbox import OutboxRelay
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.base import Delivery, Message
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.servicekit.ledger import Ledger
from tests.servers.rabbitmq import RabbitServer
from tests.waiting import eventually

LIMIT = 2000
BACKLOG_MESSAGES = 50_000
#: MB by which the producer may grow while messages of 100 MB pile up.
GROWTH = 30.0
WAITING = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"


def limit_queue(server: RabbitServer, broker_url: str, queue: str, limit: int) -> None:
    """Limit the queue as ``sluice setup broker`` limits every queue."""
    vhost = urlsplit(broker_url).path.lstrip("/")
    policy = {
        "pattern": f"^{queue}$",
        "definition": {"max-length": limit},
        "apply-to": "queues",
        "priority": 1,
    }
    server.manage("PUT", f"policies/{vhost}/{queue}", policy)


async def test_producer_keeps_no_messages_in_memory_and_loses_none(
    make_database: DatabaseFactory, rabbitmq_server: RabbitServer, rabbitmq_url: str
) -> None:
    database_url = await make_database()
    limit_queue(rabbitmq_server, rabbitmq_url, DMS_FILES, LIMIT)
    program = [
        sys.executable,
        "-m",
        "tests.integration.servicekit.pile_up",
        database_url,
        rabbitmq_url,
        str(BACKLOG_MESSAGES),
    ]
    producer = await asyncio.create_subprocess_exec(*program, stdout=asyncio.subprocess.PIPE)
    database = await asyncpg.connect(database_url)
    transport = open_transport(rabbitmq_url, sluice_topology())
    try:
        assert producer.stdout is not None
        async with asyncio.timeout(300), running(transport):
            while not (line := await producer.stdout.readline()).startswith(b"piled"):
                assert line, "the producer ended before it had sent all messages"
            before, after = map(float, line.split()[1:])
            assert after - before < GROWTH

            async def full() -> bool:
                return await transport.depth(DMS_FILES) >= LIMIT

            await eventually(full, what="a full queue", seconds=60)
            assert await transport.depth(DMS_FILES) < LIMIT + 1000
            assert await database.fetchval(WAITING) > BACKLOG_MESSAGES - LIMIT - 1000
            producer.kill()
            await producer.wait()
            waiting = {
                row[0]
                for row in await database.fetch(
                    "SELECT message_id FROM outbox WHERE sent_at IS NULL"
                )
            }
            sent = {
                row[0]
                for row in await database.fetch(
                    "SELECT message_id FROM outbox WHERE sent_at IS NOT NULL"
                )
            }
            assert len(waiting | sent) == BACKLOG_MESSAGES
            received: set[str] = set()
            stream = transport.consume(DMS_FILES, prefetch=500)
            async for batch in stream:
                received.update(delivery.message_id for delivery in batch)
                await asyncio.gather(*(delivery.ack() for delivery in batch))
                if received >= sent:
                    break
            await stream.aclose()
    finally:
        if producer.returncode is None:
            producer.kill()
        await producer.communicate()
        await database.close()


async def test_full_queue_does_not_block_other_queues_and_is_delivered_later(
    make_database: DatabaseFactory, rabbitmq_server: RabbitServer, rabbitmq_url: str
) -> None:
    """More messages than one relay batch wait for the full queue, ahead of the other message."""
    limit_queue(rabbitmq_server, rabbitmq_url, DMS_UPLOADS, 500)
    transport, database = (
        open_transport(rabbitmq_url, sluice_topology()),
        Database(await make_database(), source="test"),
    )
    ledger = Ledger(database, transport)
    async with running(transport, database):
        await ledger.create_tables()
        uid = uuid4()
        async with database.transaction() as transaction:
            for _ in range(3000):
                transaction.send(DMS_UPLOADS, UploadDataset(uid=uuid4()))
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid))
        async with running(
            OutboxRelay(
                database, transport, ServiceMetrics(), keep=timedelta(hours=1), period=0.05
            ),
            ledger.consumer,
        ):

            async def arrived() -> bool:
                return await ledger.rows() == [str(uid)]

            await eventually(arrived, what="the message to the other queue")
            assert 500 <= await transport.depth(DMS_UPLOADS) < 2000
            message_ids: list[str] = []
            stream = transport.consume(DMS_UPLOADS, prefetch=50)
            async with asyncio.timeout(120):
                async for batch in stream:
                    message_ids.extend(delivery.message_id for delivery in batch)
                    await asyncio.gather(*(delivery.ack() for delivery in batch))
                    if len(set(message_ids)) == 3000:
                        break
            await stream.aclose()
            assert len(message_ids) == 3000, "the relay sent messages twice"


async def test_slow_consumer_holds_no_more_messages_than_its_prefetch(
    rabbitmq_url: str, database_url: str
) -> None:
    for url in (rabbitmq_url, database_url):
        transport = open_transport(url, sluice_topology())
        async with running(transport), asyncio.timeout(120):
            await transport.send([Message(str(number), DMS_FILES, b"{}") for number in range(500)])
            deliveries: list[Delivery] = []
            answered = 0
            stream = transport.consume(DMS_FILES, prefetch=7)
            async for batch in stream:
                deliveries.extend(batch)
                assert len(deliveries) <= 7
                if len(deliveries) == 7:
                    assert await transport.depth(DMS_FILES) == 500 - 7 - answered
                    await deliveries.pop(0).ack()
                    answered += 1
                if answered == 50:
                    break
            await stream.aclose()
