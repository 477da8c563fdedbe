"""Databases for tests: empty, or copies of one to which migrations were applied once."""

import uuid

import asyncpg

from sluice.servicekit.migrate import Migrator
from tests.servers.postgres import PostgresServer


async def create_database(server: PostgresServer, versions: str | None = None) -> str:
    """Return the URL of a new database.

    Args:
        server: The server of the database.
        versions: The package of the revisions that the database has. None means an empty database.
    """
    template = "template1"
    if versions is not None:
        if versions not in server.migrated:
            url = await _copy(server, template)
            await Migrator(url, versions).start()
            server.migrated[versions] = _get_name(url)
        template = server.migrated[versions]
    return await _copy(server, template)


async def drop_database(server: PostgresServer, url: str) -> None:
    """Drop the database if it exists, and end its connections."""
    await _administer(server, f"DROP DATABASE IF EXISTS {_get_name(url)} WITH (FORCE)")


async def _copy(server: PostgresServer, template: str) -> str:
    name = f"test_{uuid.uuid4().hex[:12]}"
    # PostgreSQL copies files in half the time that it takes through its journal.
    await _administer(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    return server.url(name)


async def _administer(server: PostgresServer, statement: str) -> None:
    # A connection for each statement, because a test may restart the server.
    connection = await asyncpg.connect(server.url())
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _get_name(url: str) -> str:
    return url.rpartition("?")[0].rpartition("/")[2]
