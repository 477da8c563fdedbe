"""`sluice setup resend` sends recently sent messages again."""

import asyncio

import asyncpg
import pytest
from typer.testing import CliRunner

from sluice.cli.app import command_line
from sluice.contracts.access.services import SERVICES, CallingService
from sluice.servicekit.migrate import Migrator
from tests.conftest import DatabaseFactory

ROWS = (
    "INSERT INTO outbox (message_id, destination, body, sent_at) VALUES ('a', 'x', '', now()),"
    " ('b', 'x', '', NULL)"
)


async def list_unsent(url: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        return [
            row["message_id"]
            for row in await connection.fetch(
                "SELECT message_id FROM outbox WHERE sent_at IS NULL ORDER BY 1"
            )
        ]
    finally:
        await connection.close()


async def test_resend_marks_the_sent_messages_of_each_service_as_unsent(
    make_database: DatabaseFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls: dict[str, str] = {service: await make_database() for service in SERVICES}
    for service, url in urls.items():
        # The servers of the tests need no password, but the settings of a service name one.
        monkeypatch.setenv(
            f"SLUICE_{service.removeprefix('wfms.').upper()}_DATABASE_URL",
            url.replace("postgres:@", f"{service}:x@"),
        )
        await Migrator(url, f"{service}.db.migrations").start()
        connection = await asyncpg.connect(url)
        await connection.execute(f'CREATE ROLE "{service}" SUPERUSER LOGIN')
        await connection.execute(ROWS if service != "wfms.intake" else "SELECT 1")
        await connection.close()
    try:
        done = await asyncio.to_thread(CliRunner().invoke, command_line(), ["setup", "resend"])
        assert done.exit_code == 0, done.output
        assert sorted(done.output.split("\n")) == sorted(
            [
                "",
                *(
                    f"{service}: 1 message sent again"
                    for service in SERVICES
                    if service is not CallingService.INTAKE
                ),
            ]
        )
        assert await list_unsent(urls["dms"]) == ["a", "b"]
        repeated = await asyncio.to_thread(CliRunner().invoke, command_line(), ["setup", "resend"])
        assert "no message was sent of late" in repeated.output
    finally:
        connection = await asyncpg.connect(urls["dms"])
        for service in SERVICES:
            await connection.execute(f'DROP ROLE "{service}"')
        await connection.close()
