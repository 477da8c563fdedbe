"""Invariant 2: a change and its messages commit together, and each message is applied once."""

import math
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest

from sluice.contracts.messaging.messages import DMS_DELETIONS, DeleteDataset
from sluice.servicekit.database import Database
from sluice.servicekit.messages.outbox import SEND_AGAIN, OutboxRelay
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport import retry_pauses
from sluice.servicekit.transport.base import Message, Transport
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.servicekit.ledger import Ledger, make_refusal
from tests.waiting import eventually

UNKNOWN_TYPE = (
    b'{"specversion": "1.0", "id": "1", "source": "x", "type": "no.such", "time":'
    b' "2026-01-01T00:00:00Z", "data": {}}'
)
WRONG_PAYLOAD = (
    b'{"specversion": "1.0", "id": "2", "source": "x", "type": "dms.deletions", "time":'
    b' "2026-01-01T00:00:00Z", "data": {"uid": "none", "surplus": 1}}'
)


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses after failed messages."""
    monkeypatch.setattr(retry_pauses, "PAUSES", (0.01, 0.02, 0.05))


@pytest.fixture(params=["postgres", "rabbitmq"])
async def transport(
    request: pytest.FixtureRequest, short_pauses: None, make_database: DatabaseFactory
) -> AsyncIterator[Transport]:
    url = (
        await make_database()
        if request.param == "postgres"
        else request.getfixturevalue("rabbitmq_url")
    )
    transport = open_transport(url, sluice_topology())
    async with running(transport):
        yield transport


@pytest.fixture
async def ledger(make_database: DatabaseFactory, transport: Transport) -> AsyncIterator[Ledger]:
    database = Database(await make_database(), source="ledger")
    ledger = Ledger(database, transport)
    async with running(database):
        await ledger.create_tables()
        yield ledger


async def count_outbox(ledger: Ledger, *, sent: bool = False) -> int:
    async with ledger.database.connection() as connection:
        return int(
            await connection.fetchval(
                "SELECT count(*) FROM outbox WHERE (sent_at IS NOT NULL) = $1", sent
            )
        )


def make_relay(
    ledger: Ledger, transport: Transport, *, keep: timedelta = timedelta(hours=1)
) -> OutboxRelay:
    return OutboxRelay(ledger.database, transport, ServiceMetrics(), keep=keep, period=0.05)


async def wait_until_applied(ledger: Ledger, uids: set[UUID]) -> None:
    async def condition() -> bool:
        return {str(uid) for uid in uids} <= set(await ledger.rows())

    await eventually(condition, what="all messages applied")


async def wait_for_dead_letters(transport: Transport, count: int) -> None:
    async def condition() -> bool:
        return await transport.count_dead(DMS_DELETIONS) == count

    await eventually(condition, what=f"{count} dead letters")


async def send_and_change_mind(ledger: Ledger, uid: UUID) -> None:
    async with ledger.database.transaction() as transaction:
        transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid))
        raise RuntimeError("changed my mind")


async def test_message_of_a_committed_transaction_is_applied(
    ledger: Ledger, transport: Transport
) -> None:
    uid = uuid4()
    async with running(make_relay(ledger, transport), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid), subject=uid)
        await wait_until_applied(ledger, {uid})

        async def all_gone() -> bool:
            return await count_outbox(ledger) == 0 and await transport.depth(DMS_DELETIONS) == 0

        await eventually(all_gone, what="outbox and queue empty")


async def test_message_of_a_rolled_back_transaction_never_leaves(
    ledger: Ledger, transport: Transport
) -> None:
    committed_uid, dropped = uuid4(), uuid4()
    async with running(make_relay(ledger, transport), ledger.consumer):
        with pytest.raises(RuntimeError, match="changed my mind"):
            await send_and_change_mind(ledger, dropped)
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=committed_uid))
        await wait_until_applied(ledger, {committed_uid})
    assert await ledger.rows() == [str(committed_uid)]


async def test_message_is_applied_once_if_the_relay_died_after_sending_it(
    ledger: Ledger, transport: Transport
) -> None:
    """The relay died before it marked the message as sent, so the next relay sends it again."""
    first, second = uuid4(), uuid4()
    async with ledger.database.transaction() as transaction:
        transaction.send(DMS_DELETIONS, DeleteDataset(uid=first))
    async with ledger.database.connection() as connection:
        row = await connection.fetchrow("SELECT message_id, destination, body FROM outbox")
    assert row is not None
    await transport.send([Message(row["message_id"], row["destination"], row["body"])])
    async with running(make_relay(ledger, transport), ledger.consumer):
        await wait_until_applied(ledger, {first})
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=second))
        await wait_until_applied(ledger, {second})
    assert sorted(await ledger.rows()) == sorted([str(first), str(second)])


async def test_failed_handler_leaves_no_row_and_is_tried_again(
    ledger: Ledger, transport: Transport
) -> None:
    uid = uuid4()
    ledger.failures = [RuntimeError("first"), RuntimeError("second")]
    async with running(make_relay(ledger, transport), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid))
        await wait_until_applied(ledger, {uid})
    assert await ledger.rows() == [str(uid)]


async def test_deadlocks_do_not_count_as_failed_deliveries(
    ledger: Ledger, transport: Transport
) -> None:
    """There are more deadlocks than the failures that a message may have."""
    uid = uuid4()
    ledger.failures = [asyncpg.DeadlockDetectedError("deadlock detected") for _ in range(6)]
    async with running(make_relay(ledger, transport), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid))
        await wait_until_applied(ledger, {uid})
    assert await ledger.rows() == [str(uid)]
    assert await transport.count_dead(DMS_DELETIONS) == 0


#: RabbitMQ may deliver waiting messages one by one.
gives_whole_batches = pytest.mark.parametrize("transport", ["postgres"], indirect=True)


async def send_three_messages(ledger: Ledger, transport: Transport) -> list[str]:
    """Send three messages to the queue and return their subjects in order."""
    uids = sorted(str(uuid4()) for _ in range(3))
    async with running(make_relay(ledger, transport)):
        async with ledger.database.transaction() as transaction:
            for uid in reversed(uids):
                transaction.send(DMS_DELETIONS, DeleteDataset(uid=UUID(uid)), subject=uid)

        async def all_there() -> bool:
            return await transport.depth(DMS_DELETIONS) == len(uids)

        await eventually(all_there, what="all messages in the queue")
    return uids


@gives_whole_batches
async def test_messages_of_a_batch_are_applied_in_the_order_of_their_subjects(
    ledger: Ledger, transport: Transport
) -> None:
    """Two instances with messages about the same data sets lock the data sets in the same order."""
    uids = await send_three_messages(ledger, transport)
    async with running(ledger.receiver(transport, seconds=math.inf)):
        await wait_until_applied(ledger, {UUID(uid) for uid in uids})
    assert await ledger.rows() == uids
    async with ledger.database.connection() as connection:
        transactions = await connection.fetchval("SELECT count(DISTINCT xmin::text) FROM ledger")
    assert transactions == 1


@gives_whole_batches
async def test_slow_batch_is_committed_in_parts(ledger: Ledger, transport: Transport) -> None:
    """The row of the first message is committed while the second message waits for a lock."""
    uids = await send_three_messages(ledger, transport)
    async with ledger.database.connection() as connection:
        await connection.execute("CREATE UNIQUE INDEX ON ledger (uid)")
        other = connection.transaction()
        await other.start()
        await connection.execute("INSERT INTO ledger VALUES ($1)", UUID(uids[1]))
        async with running(ledger.receiver(transport, seconds=0)):
            await wait_until_applied(ledger, {UUID(uids[0])})
            assert await ledger.rows() == uids[:1]
            await other.rollback()
            await wait_until_applied(ledger, {UUID(uid) for uid in uids})

            async def all_gone() -> bool:
                return await transport.depth(DMS_DELETIONS) == 0

            await eventually(all_gone, what="the queue empty")
        inbox = await connection.fetchval("SELECT count(*) FROM inbox")
    assert (await ledger.rows(), inbox) == (uids, 3)


@gives_whole_batches
async def test_failed_message_in_a_later_part_of_a_batch_harms_no_other(
    ledger: Ledger, transport: Transport
) -> None:
    uids = await send_three_messages(ledger, transport)
    async with ledger.database.connection() as connection:
        await connection.execute("CREATE UNIQUE INDEX ON ledger (uid)")
        await connection.execute("INSERT INTO ledger VALUES ($1)", UUID(uids[1]))
    async with running(ledger.receiver(transport, seconds=0)):
        await wait_until_applied(ledger, {UUID(uid) for uid in uids})
        await wait_for_dead_letters(transport, 1)
    assert sorted(await ledger.rows()) == uids


async def test_malformed_messages_become_dead_letters_and_harm_no_other(
    ledger: Ledger, transport: Transport
) -> None:
    good = uuid4()
    bad = {
        "text": b"this is not JSON",
        "strange": UNKNOWN_TYPE,
        "wrong": WRONG_PAYLOAD,
        "empty": b"",
        "other": b'{"some": "JSON"}',
    }
    await transport.send([Message(name, DMS_DELETIONS, body) for name, body in bad.items()])
    async with running(make_relay(ledger, transport), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=good))
        await wait_until_applied(ledger, {good})
        await wait_for_dead_letters(transport, len(bad))
    letters = {
        letter.id: letter for letter in await transport.dead_letters(DMS_DELETIONS, limit=10)
    }
    assert {name: letter.body for name, letter in letters.items()} == bad
    assert (
        "not a message as the services send them: the whole: Invalid JSON" in letters["text"].reason
    )
    assert (
        letters["strange"].reason
        == "queue dms.deletions takes no messages of type 'no.such', only dms.deletions"
    )
    assert letters["wrong"].reason.startswith(
        "its data are not a DeleteDataset: uid: it is not a uid"
    )
    assert letters["wrong"].reason.endswith("surplus: Extra inputs are not permitted")
    assert "id: Field required" in letters["other"].reason


async def test_message_that_always_fails_becomes_a_dead_letter_and_can_be_requeued(
    ledger: Ledger, transport: Transport
) -> None:
    uid = uuid4()
    ledger.failures = [RuntimeError(f"failure {number}") for number in (5, 4, 3, 2, 1)]
    async with running(make_relay(ledger, transport), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid))
        await wait_for_dead_letters(transport, 1)
        assert (await transport.dead_letters(DMS_DELETIONS, limit=1))[0].reason == "failure 5"
        assert await ledger.rows() == []
        assert await transport.requeue(DMS_DELETIONS) == 1
        await wait_until_applied(ledger, {uid})
    assert await transport.count_dead(DMS_DELETIONS) == 0


async def test_refused_message_becomes_a_dead_letter_at_once(
    ledger: Ledger, transport: Transport
) -> None:
    ledger.failures = [make_refusal()]
    async with running(make_relay(ledger, transport), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uuid4()))
        await wait_for_dead_letters(transport, 1)
    assert "never will be" in (await transport.dead_letters(DMS_DELETIONS, limit=10))[0].reason
    assert await ledger.rows() == []


async def test_two_relays_apply_each_message_once(ledger: Ledger, transport: Transport) -> None:
    uids = {uuid4() for _ in range(500)}
    async with running(
        make_relay(ledger, transport), make_relay(ledger, transport), ledger.consumer
    ):
        for uid in uids:
            async with ledger.database.transaction() as transaction:
                transaction.send(DMS_DELETIONS, DeleteDataset(uid=uid))
        await wait_until_applied(ledger, uids)
    assert len(await ledger.rows()) == len(uids)


async def test_messages_of_a_lost_broker_are_sent_again_and_applied_once(
    ledger: Ledger, make_database: DatabaseFactory
) -> None:
    """Invariant 2: the broker was lost after one message was applied and while the other waited."""
    done, lost = uuid4(), uuid4()
    first, second = [open_transport(await make_database(), sluice_topology()) for _ in range(2)]
    async with running(first, make_relay(ledger, first)):
        async with running(ledger.receiver(first)):
            async with ledger.database.transaction() as transaction:
                transaction.send(DMS_DELETIONS, DeleteDataset(uid=done))
            await wait_until_applied(ledger, {done})
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=lost))

        async def both_sent() -> bool:
            return await count_outbox(ledger, sent=True) == 2

        await eventually(both_sent, what="both messages sent")
    async with ledger.database.connection() as connection:
        await connection.execute(SEND_AGAIN)
    async with running(second, make_relay(ledger, second), ledger.receiver(second)):
        await wait_until_applied(ledger, {done, lost})

        async def all_gone() -> bool:
            return await count_outbox(ledger) == 0 and await second.depth(DMS_DELETIONS) == 0

        await eventually(all_gone, what="outbox and queue empty")
    assert sorted(await ledger.rows()) == sorted([str(done), str(lost)])


@pytest.mark.parametrize(
    "keep", [timedelta(0), timedelta(milliseconds=1)], ids=["not kept", "kept no longer"]
)
async def test_sent_messages_are_deleted_after_their_retention(
    ledger: Ledger, transport: Transport, keep: timedelta
) -> None:
    async with running(make_relay(ledger, transport, keep=keep), ledger.consumer):
        async with ledger.database.transaction() as transaction:
            transaction.send(DMS_DELETIONS, DeleteDataset(uid=uuid4()))

        async def sent() -> bool:
            return await count_outbox(ledger) == 0

        await eventually(sent, what="the message sent")

    async def forgotten() -> bool:
        async with running(make_relay(ledger, transport, keep=keep)):
            return await count_outbox(ledger, sent=True) == 0

    await eventually(forgotten, what="the sent message forgotten")
