"""Provide real servers for tests: PostgreSQL, RabbitMQ and Podman.

Each test process starts a server when a test first needs it.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from tests.servers.databases import create_database, drop_database
from tests.servers.podman import Podman, start_podman
from tests.servers.postgres import PostgresServer, start_postgres
from tests.servers.rabbitmq import RabbitServer, start_rabbitmq

DatabaseFactory = Callable[..., Awaitable[str]]


@asynccontextmanager
async def open_temporary_databases(server: PostgresServer) -> AsyncIterator[DatabaseFactory]:
    """Yield a function that creates databases as ``create_database``, and drop them at the end."""
    urls: list[str] = []

    async def make(versions: str | None = None) -> str:
        urls.append(await create_database(server, versions))
        return urls[-1]

    yield make
    for url in urls:
        await drop_database(server, url)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    server.stop()


@pytest.fixture
async def make_database(postgres_server: PostgresServer) -> AsyncIterator[DatabaseFactory]:
    """Yield a function that returns the URL of a new database at each call.

    The database is empty, or has the revisions of the package that the call names. All databases
    are dropped after the test.
    """
    async with open_temporary_databases(postgres_server) as make:
        yield make


@pytest.fixture
async def database_url(make_database: DatabaseFactory) -> str:
    """Return the URL of a new, empty database, which is dropped after the test."""
    return await make_database()


@pytest.fixture(scope="session")
def rabbitmq_server() -> Iterator[RabbitServer]:
    try:
        server = start_rabbitmq()
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)
    yield server
    server.stop()


@pytest.fixture
def rabbitmq_url(rabbitmq_server: RabbitServer) -> Iterator[str]:
    """Yield the URL of a new virtual host, which is deleted after the test."""
    vhost = f"test-{uuid.uuid4().hex[:12]}"
    yield rabbitmq_server.add_vhost(vhost)
    rabbitmq_server.delete_vhost(vhost)


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    try:
        podman = start_podman()
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)
    yield podman
    podman.stop()
