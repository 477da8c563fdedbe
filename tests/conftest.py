"""Real servers for every test that asks: PostgreSQL and RabbitMQ, started once per test process when first needed."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import asyncpg
import pytest

from tests.servers.postgres import PostgresServer, start_postgres

DatabaseFactory = Callable[[], Awaitable[str]]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    server.stop()


@pytest.fixture
async def make_database(postgres_server: PostgresServer) -> AsyncIterator[DatabaseFactory]:
    """A function that gives the URL of a fresh, empty database at each call; all are dropped after the test."""
    admin = await asyncpg.connect(postgres_server.url())
    names: list[str] = []

    async def make() -> str:
        name = f"test_{uuid.uuid4().hex[:12]}"
        await admin.execute(f"CREATE DATABASE {name}")
        names.append(name)
        return postgres_server.url(name)

    try:
        yield make
    finally:
        for name in names:
            await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await admin.close()


@pytest.fixture
async def database_url(make_database: DatabaseFactory) -> str:
    """``postgresql://…`` of a fresh, empty database, dropped after the test."""
    return await make_database()
