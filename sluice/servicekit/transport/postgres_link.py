"""Connections of the PostgreSQL transport: pools for statements, and a session as the identity."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import asyncpg
import structlog

from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import LOST_CONNECTION, session_settings
from sluice.servicekit.transport import postgres_schema as sql
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

# The classes are generic only for the type checker.
if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
    Pool = asyncpg.Pool[asyncpg.Record]
else:
    Connection, Pool = asyncpg.Connection, asyncpg.Pool

CONNECT_TIMEOUT = 5.0
STATEMENT_TIMEOUT = 30.0
# Seconds between two checks of the session for its own state and for dead instances.
SWEEP_INTERVAL = 1.0
# Seconds between two attempts to reconnect. The first pause is short, because the server restarts
# within a second.
FIRST_PAUSE, MAX_PAUSE = 0.2, 5.0

#: The errors of asyncpg that the server causes, and not a statement. The statements here are few
#: and fixed, so that more errors than elsewhere point to the server (SQLSTATE classes 25, 40, 57,
#: 58, XX).
UNAVAILABLE = (
    *LOST_CONNECTION,
    asyncpg.InvalidTransactionStateError,
    asyncpg.TransactionRollbackError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresSystemError,
    asyncpg.InternalServerError,
)


@contextmanager
def unavailable_when_lost() -> Iterator[None]:
    """Turn errors of asyncpg about an unavailable database into ``TransportUnavailable``."""
    try:
        yield
    except UNAVAILABLE as error:
        raise TransportUnavailable(f"PostgreSQL: {reason_of(error)}") from error


class _PooledConnection(Connection):
    """Connection that is returned to its pool without a reset, which would cost a round trip.

    No statement here leaves session state behind.
    """

    def get_reset_query(self) -> str:
        """Return no statement."""
        return ""


class PostgresLink:
    """Two pools for statements.

    The durable pool waits for the disk at a commit. The other one does not: if a
    crash of the server loses a claim or an answer, the message comes again.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._durable: Pool | None = None
        self._light: Pool | None = None

    async def open(self) -> None:
        """Open the pools and create the tables.

        Raises:
            TransportUnavailable: The database is unavailable.
        """
        with unavailable_when_lost():
            self._durable = await self._pool(2, {})
            self._light = await self._pool(4, {"synchronous_commit": "off"})
        connection = await self.connect()
        try:
            with unavailable_when_lost():
                await sql.create_schema(connection)
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT)

    async def close(self) -> None:
        """Close the pools."""
        for pool in (self._durable, self._light):
            if pool is not None:
                try:
                    await asyncio.wait_for(pool.close(), CONNECT_TIMEOUT)
                except UNAVAILABLE:
                    pool.terminate()

    async def fetch(
        self, statement: str, *arguments: Any, durable: bool = False
    ) -> list[asyncpg.Record]:
        """Run one statement and return its rows.

        Raises:
            TransportUnavailable: The database is unavailable.
        """
        pool = self._durable if durable else self._light
        if pool is None:
            raise TransportUnavailable("not started")
        with unavailable_when_lost():
            async with pool.acquire(timeout=CONNECT_TIMEOUT) as connection:
                return await connection.fetch(statement, *arguments)

    async def connect(self) -> Connection:
        """Return a connection outside the pools.

        Raises:
            TransportUnavailable: The database is unavailable.
        """
        with unavailable_when_lost():
            return await asyncpg.connect(
                self._url,
                timeout=CONNECT_TIMEOUT,
                command_timeout=STATEMENT_TIMEOUT,
                server_settings=session_settings(self._url),
            )

    async def _pool(self, max_size: int, settings: dict[str, str]) -> Pool:
        return await asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=max_size,
            timeout=CONNECT_TIMEOUT,
            command_timeout=STATEMENT_TIMEOUT,
            connection_class=_PooledConnection,
            server_settings=session_settings(self._url, settings),
        )


class PostgresSession:
    """The identity of this instance in the database, which is renewed after a lost connection.

    ``holder`` is the number under which messages are claimed, or None without a connection.
    ``on_change`` is called when the number changes, because the messages claimed before are lost.
    """

    def __init__(self, link: PostgresLink, on_change: Callable[[], None]) -> None:
        self.holder: int | None = None
        self._link = link
        self._on_change = on_change
        self._connection: Connection | None = None
        self._wakers: dict[str, set[Callable[[], None]]] = {}
        self._listening: set[str] = set()
        self._keeper: asyncio.Task[None] | None = None
        self._in_use = asyncio.Lock()  # a connection runs one statement at a time

    async def start(self) -> None:
        """Connect and begin to watch the connection."""
        await self._join()
        self._keeper = asyncio.create_task(self._keep(), name="postgres-transport-session")

    async def stop(self) -> None:
        """Return the claimed messages and disconnect."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        await self._leave()

    async def listen(self, queue: str, wake: Callable[[], None]) -> None:
        """Call ``wake`` whenever ``queue`` gets a message, or may have got one unnoticed."""
        channel = sql.wake_channel(queue)
        self._wakers.setdefault(channel, set()).add(wake)
        async with self._in_use:
            # Without a connection, or if it has just been lost, the next connection listens to all
            # channels.
            if self._connection is not None:
                with suppress(TransportUnavailable):
                    await self._listen_to_all(self._connection)

    def unlisten(self, queue: str, wake: Callable[[], None]) -> None:
        """Stop to call ``wake`` for ``queue``."""
        self._wakers.get(sql.wake_channel(queue), set()).discard(wake)

    async def _join(self) -> None:
        connection = await self._link.connect()
        try:
            with unavailable_when_lost():
                async with connection.transaction():
                    row = await connection.fetchrow(sql.REGISTER, sql.LOCK_CLASS)
            self._listening.clear()
            await self._listen_to_all(connection)
        except TransportUnavailable:
            connection.terminate()
            raise
        assert row is not None  # noqa: S101 - INSERT … RETURNING gives one row
        self._connection = connection
        self.holder = row["id"]
        self._on_change()
        self._wake_all()

    async def _listen_to_all(self, connection: Connection) -> None:
        with unavailable_when_lost():
            for channel in self._wakers.keys() - self._listening:
                await connection.add_listener(channel, self._notified)
                self._listening.add(channel)

    async def _leave(self) -> None:
        connection, holder = self._connection, self.holder
        self._connection = self.holder = None
        if connection is not None:
            self._on_change()
            with suppress(TransportUnavailable), unavailable_when_lost():
                await connection.fetch(sql.DEAD_LETTER_HOLDERS, [holder])
                await connection.close(timeout=CONNECT_TIMEOUT)
            connection.terminate()

    async def _keep(self) -> None:
        failures = 0
        while True:
            try:
                async with self._in_use:
                    if self._connection is None:
                        await self._join()
                        log.info("transport.connected", holder=self.holder)
                    await self._sweep(self._connection)
                failures = 0
            except TransportUnavailable as error:
                failures += 1
                log.warning("transport.lost", reason=error.what, failures=failures)
                await self._leave()
            await asyncio.sleep(
                pause_after(failures, first=FIRST_PAUSE, max_pause=MAX_PAUSE)
                if failures
                else SWEEP_INTERVAL
            )

    async def _sweep(self, connection: Connection | None) -> None:
        """Return the messages of dead instances to their queues, and check the connection."""
        if connection is None:
            return
        with unavailable_when_lost():
            dead = [row["id"] for row in await connection.fetch(sql.DEAD_HOLDERS, sql.LOCK_CLASS)]
            if dead:
                log.info("transport.holders_died", holders=dead)
                await connection.fetch(sql.DEAD_LETTER_HOLDERS, dead)
            if self.holder in dead:
                raise TransportUnavailable("this instance's lock was lost")

    def _notified(self, _connection: object, _pid: int, channel: str, _payload: object) -> None:
        for wake in tuple(self._wakers.get(channel, ())):
            wake()

    def _wake_all(self) -> None:
        for wakers in self._wakers.values():
            for wake in tuple(wakers):
                wake()
