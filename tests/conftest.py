"""Real servers for every test that asks: PostgreSQL and RabbitMQ, started once per test process
when first needed."""

import os
import signal
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import asyncpg
import pytest
import structlog

from sluice.process.garbage_collection import keep_what_is_loaded
from tests.draws import draw_the_same_each_time
from tests.guard import start_guard
from tests.needs import leave_out, tell_what_is_missing
from tests.servers.postgres import PostgresServer, start_postgres
from tests.servers.rabbitmq import RabbitServer, start_rabbitmq

#: Folders of tests that take long, in the order in which they are begun; the short ones fill what
#: is left of the time.
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

draw_the_same_each_time()
# By itself structlog prints what all variables of a traceback hold, which takes seconds.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        ),
    ]
)

DatabaseFactory = Callable[[], Awaitable[str]]


def pytest_configure() -> None:
    """SIGTERM ends a run as Ctrl-C does; after SIGKILL only what runs can be ended. A shell that
    starts the tests in the background has them, and all that they start, ignore Ctrl-C. Which
    system somebody's command asks is none of the tests' business."""
    for name in ("SLUICE_URL", "SLUICE_HOME", "SLUICE_TOKEN", "SLUICE_TOKEN_FILE"):
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        start_guard()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of a module run in one process, so that what they share is made once."""
    leave_out(config, items)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(
        key=lambda item: next(
            (n for n, folder in enumerate(LONG) if folder in item.path.parts), len(LONG)
        )
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tell_what_is_missing(terminalreporter)


def pytest_collection_finish() -> None:
    keep_what_is_loaded()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    server.stop()


@pytest.fixture
async def make_database(postgres_server: PostgresServer) -> AsyncIterator[DatabaseFactory]:
    """A function that gives the URL of a fresh, empty database at each call; all are dropped after
    the test."""
    names: list[str] = []

    async def make() -> str:
        name = f"test_{uuid.uuid4().hex[:12]}"
        # Copied as files: PostgreSQL takes half as long for it as by its journal.
        await administer(f"CREATE DATABASE {name} STRATEGY file_copy")
        names.append(name)
        return postgres_server.url(name)

    async def administer(statement: str) -> None:
        # A connection for each statement, because a test may restart the server.
        admin = await asyncpg.connect(postgres_server.url())
        try:
            await admin.execute(statement)
        finally:
            await admin.close()

    yield make
    for name in names:
        await administer(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
async def database_url(make_database: DatabaseFactory) -> str:
    """``postgresql://…`` of a fresh, empty database, dropped after the test."""
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
    """``amqp://…`` of a fresh virtual host, removed after the test."""
    vhost = f"test-{uuid.uuid4().hex[:12]}"
    yield rabbitmq_server.add_vhost(vhost)
    rabbitmq_server.delete_vhost(vhost)
