"""Two transactions that lock the same rows in different orders do not deadlock."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from dms.db.files import insert_files
from dms.db.replicas import insert_replicas, mark_replicas_deleted
from dms.domain.differences import SubmittedFile
from dms.domain.errors import PlaceRegisteredConcurrently
from sluice.contracts.common.states import ReplicaState
from sluice.servicekit.database import INSERT_INBOX, Connection, Database
from sluice.servicekit.messages.outbox import DELETE_OUTBOX, MARK_SENT, RELEASE_OUTBOX
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport import postgres_schema as transport
from tests.conftest import DatabaseFactory
from tests.waiting import eventually
from wfms.chains.db.datasets import mark_handed_over
from wfms.watcher.db.watches import insert_releases

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHECKSUM = bytes(32)
PATHS = "SELECT path FROM replicas ORDER BY path"

#: The statements of a transaction.
Work = Callable[[Connection], Awaitable[object]]

#: Settings of two sessions that find the same rows in opposite orders: by a sequential scan, which
#: is backwards here, and by the index.
QUICK = {"enable_bitmapscan": "off", "deadlock_timeout": "20ms"}
AS_THEY_LIE = {
    **QUICK,
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_mergejoin": "off",
}
BY_THE_INDEX = {**QUICK, "enable_seqscan": "off", "enable_hashjoin": "off"}


@asynccontextmanager
async def open_session(url: str, **settings: str) -> AsyncIterator[Connection]:
    database = Database(url, source="test", settings=settings, max_connections=1)
    async with running(database), database.connection() as connection:
        yield connection


async def meet(url: str, gate: Work, first: Work, second: Work) -> None:
    """Run two transactions that both wait for a row that ``gate`` locks, and then release the row.

    Raises what the transactions raise.
    """

    async def both_wait() -> bool:
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND"
            " wait_event_type = 'Lock'"
        )
        return bool(await watch.fetchval(waiting) == 2)

    async def run(connection: Connection, work: Work) -> None:
        async with connection.transaction():
            await work(connection)

    async with (
        open_session(url) as watch,
        open_session(url) as holder,
        open_session(url, **AS_THEY_LIE) as one,
        open_session(url, **BY_THE_INDEX) as other,
    ):
        transaction = holder.transaction()
        await transaction.start()
        await gate(holder)
        at_work = [asyncio.create_task(run(one, first)), asyncio.create_task(run(other, second))]
        await eventually(
            both_wait, what="both transactions wait for the row that is held, or for each other"
        )
        await transaction.rollback()
        await asyncio.gather(*at_work)


def make_statement(sql: str, *arguments: Any) -> Work:
    return lambda connection: connection.execute(sql, *arguments)


async def execute(url: str, sql: str, *arguments: Any) -> None:
    async with open_session(url) as connection:
        await connection.execute(sql, *arguments)


async def read_column(url: str, sql: str) -> list[Any]:
    """Return the first column of the rows that a query finds."""
    async with open_session(url) as connection:
        return [row[0] for row in await connection.fetch(sql)]


async def test_concurrent_reports_release_the_same_data_sets_without_a_deadlock(
    make_database: DatabaseFactory,
) -> None:
    url = await make_database("wfms.watcher.db.migrations")
    # PostgreSQL's hashing returns these in opposite orders when they come alone and when they come
    # with many others.
    one, middle, other = [UUID(int=number) for number in (2, 4, 3)]
    more = [UUID(int=number) for number in range(1000, 1500)]

    def release(*uids: UUID) -> Work:
        return lambda connection: insert_releases(connection, uids, now=NOW)

    await meet(
        url, release(middle), release(one, middle, other), release(other, middle, one, *more)
    )
    assert await read_column(url, "SELECT count(*) FROM releases") == [3 + len(more)]


async def test_concurrent_registrations_at_the_same_paths_do_not_deadlock(
    make_database: DatabaseFactory,
) -> None:
    url, storage = await _create_catalogue(make_database)

    def register(*paths: str) -> Work:
        async def work(connection: Connection) -> None:
            dataset = uuid4()
            files = [
                SubmittedFile(path, seq, 1, CHECKSUM, "", storage, path, {}, None)
                for seq, path in enumerate(paths)
            ]
            await connection.execute(
                "INSERT INTO datasets (uid, name, type, meta, on_demand, request) VALUES ($1, $2,"
                " 'input', '{}', false, '{}')",
                dataset,
                str(dataset),
            )
            await insert_files(
                connection, dataset, files, state=ReplicaState.AVAILABLE, numbered=True
            )

        return work

    def unless_known(work: Work) -> Work:
        async def attempt(connection: Connection) -> None:
            with suppress(PlaceRegisteredConcurrently):  # the registration retries
                await work(connection)

        return attempt

    await meet(
        url,
        register("b"),
        unless_known(register("a", "b", "c")),
        unless_known(register("c", "b", "a")),
    )
    assert await read_column(url, PATHS) == ["a", "b", "c"]


async def test_concurrent_uploads_record_the_same_replicas_without_a_deadlock(
    make_database: DatabaseFactory,
) -> None:
    url, storage = await _create_catalogue(make_database)

    def note(*paths: str) -> Work:
        return lambda connection: insert_replicas(
            connection, storage, [(101, path) for path in paths]
        )

    await meet(url, note("b"), note("a", "b", "c"), note("c", "b", "a"))
    assert await read_column(url, PATHS) == ["a", "b", "c"]


async def test_concurrent_deletions_of_shared_replicas_do_not_deadlock(
    make_database: DatabaseFactory,
) -> None:
    url, storage = await _create_catalogue(make_database)
    await execute(
        url,
        """INSERT INTO replicas (id, file_id, storage_id, path, state) OVERRIDING SYSTEM VALUE
        SELECT id, 100 + id, $1, id::text, 'deleting' FROM unnest(ARRAY[3, 2, 1]) AS id""",
        storage,
    )
    gate = make_statement("SELECT 1 FROM replicas WHERE id = 2 FOR UPDATE")
    await meet(
        url,
        gate,
        lambda one: mark_replicas_deleted(one, [3, 2, 1]),
        lambda other: mark_replicas_deleted(other, [1, 2, 3]),
    )
    assert await read_column(url, "SELECT state FROM replicas") == ["deleted"] * 3


async def _create_catalogue(make_database: DatabaseFactory) -> tuple[str, UUID]:
    """Create a database of the DMS with a storage and three files."""
    url, storage = await make_database("dms.db.migrations"), uuid4()
    await execute(
        url,
        "INSERT INTO storages (id, name, type, url, read_only) VALUES ($1, 's', 'input',"
        " 'file:///s', false)",
        storage,
    )
    files = (
        "INSERT INTO files (id, size, checksum, meta) SELECT id, 1, $1, '{}' FROM unnest(ARRAY[103,"
        " 102, 101]) AS id"
    )
    await execute(url, files, CHECKSUM)
    return url, storage


async def test_concurrent_hand_overs_of_releases_do_not_deadlock(
    make_database: DatabaseFactory,
) -> None:
    url = await make_database("wfms.chains.db.migrations")
    chains = [UUID(int=number) for number in (3, 2, 1)]
    for chain in chains:
        await execute(
            url,
            """INSERT INTO chains (uid, state, template_id, template_name, template_version,
                plan, params, dataset_uid, dataset_name, dataset, created_at)
            VALUES ($1, 'in_progress', $2, 't', 1, '{}', '{}', $1, 'd', '{}', now())""",
            chain,
            uuid4(),
        )
        await execute(
            url,
            """INSERT INTO datasets (uid, chain_uid, name, status, created_at, released_at)
            VALUES ($1, $1, 'd', 'finished', now(), $2)""",
            chain,
            NOW + timedelta(days=chain.int),
        )

    def hand_over(*uids: UUID) -> Work:
        return lambda connection: mark_handed_over(connection, uids, now=NOW)

    gate = make_statement("SELECT 1 FROM datasets WHERE uid = $1 FOR UPDATE", chains[1])
    await meet(url, gate, hand_over(*chains), hand_over(*reversed(chains)))
    assert await read_column(url, "SELECT handed_over_at FROM datasets") == [NOW] * 3


@pytest.mark.parametrize(
    ("settle", "settled"),
    [(MARK_SENT, [True] * 3), (DELETE_OUTBOX, []), (RELEASE_OUTBOX, [False] * 3)],
    ids=["sent", "deleted", "released"],
)
async def test_two_relays_settle_the_same_messages_without_a_deadlock(
    make_database: DatabaseFactory, settle: str, settled: list[bool]
) -> None:
    url = await make_database("wfms.watcher.db.migrations")
    await execute(
        url,
        """INSERT INTO outbox (id, message_id, destination, body, claimed_until)
        OVERRIDING SYSTEM VALUE
        SELECT id, id::text, 'q', '', 'infinity' FROM unnest(ARRAY[3, 2, 1]) AS id""",
    )
    gate = make_statement("SELECT 1 FROM outbox WHERE id = 2 FOR UPDATE")
    await meet(url, gate, make_statement(settle, [3, 2, 1]), make_statement(settle, [1, 2, 3]))
    assert await read_column(url, "SELECT sent_at IS NOT NULL FROM outbox") == settled
    assert await read_column(url, "SELECT id FROM outbox WHERE claimed_until IS NOT NULL") == []


async def test_two_consumers_receive_the_same_messages_without_a_deadlock(
    make_database: DatabaseFactory,
) -> None:
    url = await make_database("wfms.watcher.db.migrations")

    def receive(*ids: str) -> Work:
        return make_statement(INSERT_INBOX, "q", ids)

    await meet(url, receive("b"), receive("a", "b", "c"), receive("c", "b", "a"))
    assert await read_column(url, "SELECT message_id FROM inbox ORDER BY 1") == ["a", "b", "c"]


#: Sequence numbers, attempts and holder, in the order of the statements' parameters.
MessageLeases = tuple[Sequence[int], Sequence[int], int]


@pytest.mark.parametrize(
    ("answer", "more"),
    [(transport.ACK, ()), (transport.RELEASE, (0.0, None)), (transport.DEAD_LETTER, ("why",))],
    ids=["ack", "release", "bury"],
)
async def test_messages_are_settled_while_their_leases_are_renewed_without_a_deadlock(
    make_database: DatabaseFactory, answer: str, more: tuple[Any, ...]
) -> None:
    url = await make_database()
    async with open_session(url) as connection:
        await connection.execute(transport.CREATE)
        await connection.execute(
            """INSERT INTO sluice_transport.message (seq, queue, id, body, attempts, holder)
            OVERRIDING SYSTEM VALUE
            SELECT seq, 'q', seq::text, '', 1, 7 FROM unnest(ARRAY[3, 2, 1]) AS seq"""
        )
    gate = make_statement("SELECT 1 FROM sluice_transport.message WHERE seq = 2 FOR UPDATE")
    forward: MessageLeases = ([1, 2, 3], [1, 1, 1], 7)
    backward: MessageLeases = ([3, 2, 1], [1, 1, 1], 7)
    await meet(
        url,
        gate,
        make_statement(transport.RENEW, "q", *backward, 30.0),
        make_statement(answer, "q", *forward, *more),
    )
    assert await read_column(url, "SELECT seq FROM sluice_transport.message WHERE holder = 7") == []
