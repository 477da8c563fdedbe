"""Provide real servers for tests: PostgreSQL and RabbitMQ.

Each test process starts a server when a test first needs it.
"""

import os
import signal
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
import structlog

from sluice.process.garbage_collection import freeze_loaded_objects
from tests.draws import use_derandomized_profile
from tests.guard import start_guard
from tests.needs import deselect_tests, report_missing_needs
from tests.servers.databases import create_database, drop_database
from tests.servers.postgres import PostgresServer, start_postgres
from tests.servers.rabbitmq import RabbitServer, start_rabbitmq

#: Folders of long tests, in the order in which they start. Short tests run after them.
LONG = (
    "faults",
    "e2e",
    "differential",
    "wheel",
    "deploy",
    "cwl_runner",
    "conformance",
    "integration",
)

use_derandomized_profile()
# By default structlog prints all variables of a traceback, which takes seconds.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        ),
    ]
)

DatabaseFactory = Callable[..., Awaitable[str]]


@asynccontextmanager
async def temporary_databases(server: PostgresServer) -> AsyncIterator[DatabaseFactory]:
    """Yield a function that creates databases as ``create_database``, and drop them at the end."""
    urls: list[str] = []

    async def make(versions: str | None = None) -> str:
        urls.append(await create_database(server, versions))
        return urls[-1]

    yield make
    for url in urls:
        await drop_database(server, url)


def pytest_configure() -> None:
    """Make SIGTERM and SIGINT end a run, and remove the settings of the user's own system.

    A shell that starts the tests in the background makes them ignore SIGINT. After SIGKILL, the
    guard ends the processes of the run.
    """
    for name in ("SLUICE_URL", "SLUICE_HOME", "SLUICE_TOKEN", "SLUICE_TOKEN_FILE"):
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        start_guard()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests of a module in one process, so that they share its fixtures."""
    deselect_tests(config, items)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(
        key=lambda item: next(
            (n for n, folder in enumerate(LONG) if folder in item.path.parts), len(LONG)
        )
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    report_missing_needs(terminalreporter)


def pytest_collection_finish() -> None:
    freeze_loaded_objects()


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
    async with temporary_databases(postgres_server) as make:
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
