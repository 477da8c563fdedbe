"""A process that freezes within a transaction blocks others only briefly, and recovers."""

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.contracts.data.datasets import CloseDataset, NewDataset
from sluice.servicekit.database import SESSION, Database, session_settings
from tests.conftest import DatabaseFactory
from tests.integration.servicekit.process import MODULE, ServiceProcess
from tests.servers.network_postgres import make_network_postgres
from tests.waiting import eventually


@pytest.fixture
async def database_url(make_database: DatabaseFactory) -> str:
    """Return a database URL with a timeout short enough for a test."""
    return f"{await make_database()}&idle_in_transaction_session_timeout=500ms"


@pytest.fixture
async def instances(
    tmp_path: Path, database_url: str, make_database: DatabaseFactory
) -> AsyncIterator[list[ServiceProcess]]:
    """Start two ready instances of the DMS."""
    settings = {
        "SLUICE_DMS_DATABASE_URL": database_url,
        "SLUICE_DMS_BROKER_URL": await make_database(),
    }
    processes = []
    for name in ("one", "two"):
        (folder := tmp_path / name).mkdir()
        processes.append(ServiceProcess([*MODULE, "dms"], folder, settings))
    for process in processes:
        await process.answers()
        await process.is_ready()
    yield processes
    for process in processes:
        process.process.send_signal(signal.SIGCONT)
        await process.clean_up()


async def test_frozen_instance_loses_the_lock_for_closing_data_sets(
    instances: list[ServiceProcess], database_url: str
) -> None:
    """Invariant 7: the other instance goes on, and the frozen one recovers."""
    frozen = instances[0]
    clients = [DmsClient(one.http) for one in instances]
    locked_uid, free = [
        (await clients[0].register_dataset(NewDataset(name=name, type=DatasetType.LOGS))).uid
        for name in ("held", "free")
    ]
    ours = await asyncpg.connect(database_url)
    try:
        closing = await stop_while_closing(frozen, ours, locked_uid)
        assert (await clients[1].close_dataset(free)).state is DatasetState.CLOSED
        assert (await clients[1].close_dataset(locked_uid)).state is DatasetState.CLOSED
    finally:
        await ours.close()
    frozen.process.send_signal(signal.SIGCONT)
    with pytest.raises(NotAvailable, match="try again"):
        await closing
    assert (await clients[0].close_dataset(locked_uid)).state is DatasetState.CLOSED
    await frozen.is_ready()
    assert "Traceback" not in frozen.log.read_text()


async def stop_while_closing(
    process: ServiceProcess, ours: "asyncpg.Connection[asyncpg.Record]", uid: UUID
) -> "asyncio.Task[object]":
    """Return a request to close a data set of a process that was stopped with the closing lock."""
    row = ours.transaction()
    await row.start()
    await ours.execute("SELECT FROM datasets WHERE uid = $1 FOR UPDATE", uid)
    once = DmsClient(process.http).call(
        "POST", f"/api/v1/datasets/{uid}/close", body=CloseDataset(), retry=False
    )
    request = asyncio.create_task(once)

    async def waits_for_the_row() -> bool:
        waiting = "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
        return bool(await ours.fetch(waiting))

    await eventually(waits_for_the_row, what="the closing lock is taken, the row is waited for")
    process.process.send_signal(signal.SIGSTOP)
    await row.rollback()
    return request


async def test_sessions_have_timeouts_for_clients_that_are_gone() -> None:
    server = await asyncio.to_thread(make_network_postgres)
    try:
        await server.start()
        await server.execute("CREATE ROLE service LOGIN PASSWORD 'secret'")
        database = Database(server.url("service", "secret", "postgres"), source="test")
        await database.start()
        async with database.connection() as connection:
            shown = {name: await connection.fetchval(f"SHOW {name}") for name in SESSION}
        await database.stop()
    finally:
        await server.remove()
    assert shown == {
        name: value.removesuffix("s") if "keepalives" in name else value
        for name, value in SESSION.items()
    } | {"tcp_user_timeout": "60000"}


def test_session_settings_of_the_url_take_precedence() -> None:
    settings = session_settings(
        "postgresql://x/y?idle_in_transaction_session_timeout=60s", {"jit": "off"}
    )
    assert settings == {
        name: value for name, value in SESSION.items() if not name.startswith("idle")
    } | {"jit": "off"}
