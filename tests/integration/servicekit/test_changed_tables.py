"""A table gets a new column while connections have prepared statements that read the table."""

import asyncpg
import httpx
from fastapi import APIRouter
from structlog.testing import capture_logs

from sluice.clients.base import ServiceClient
from sluice.contracts.common.base import Contract
from sluice.servicekit.database import Database
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.conftest import DatabaseFactory


class Columns(Contract):
    number: int


async def test_request_on_a_changed_table_is_answered_503_and_retried_by_the_client(
    make_database: DatabaseFactory,
) -> None:
    url = await make_database()
    admin = await asyncpg.connect(url)
    await admin.execute("CREATE TABLE notes (id int); INSERT INTO notes VALUES (1)")
    database, router = Database(url, source="notes"), APIRouter()

    @router.get("/columns")
    async def columns() -> Columns:
        async with database.transaction() as transaction:
            row = await transaction.connection.fetchrow("SELECT * FROM notes")
            assert row is not None
            return Columns(number=len(row))

    app = create_app("notes", [open_to_all(router)], health=Health({}), metrics=ServiceMetrics())
    transport = httpx.ASGITransport(app)
    async with (
        running(database),
        httpx.AsyncClient(transport=transport, base_url="http://n") as http,
    ):
        service = ServiceClient(http)
        assert (await service.call("GET", "/columns", answer=Columns)).number == 1
        await admin.execute("ALTER TABLE notes ADD COLUMN text text")
        with capture_logs() as logs:
            assert (await service.call("GET", "/columns", answer=Columns)).number == 2
    await admin.close()
    assert [(line["event"], line["log_level"]) for line in logs] == [
        ("http.unavailable", "warning")
    ]
