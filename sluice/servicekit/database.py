"""A service's own PostgreSQL database: a connection pool, and transactions with an outbox.

Messages commit with the transaction that sends them (invariant 2).

All services follow one lock order. A statement, or a transaction, that locks several rows does so
in the order of their keys. Rows that others may handle are taken with SKIP LOCKED. So two
transactions never wait for each other.
"""

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import asyncpg
import orjson

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.contracts.messaging.messages import CloudEvent, extra_attributes
from sluice.servicekit.audit.request import current_request
from sluice.servicekit.audit.rows import note_change
from sluice.servicekit.running.clock import Clock, SystemClock
from sluice.text.os_errors import reason_of

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = PoolConnectionProxy[asyncpg.Record]
else:
    Connection = object  # the class is generic only for the type checker

#: The errors of asyncpg when the server is gone, stops or starts, or the connection is lost.
LOST_CONNECTION = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    # asyncpg raises this while the server closes the connection ("cannot switch to state …").
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    # The server ended the session of this process because it stood still (``SESSION``).
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.InsufficientResourcesError,
    # The login or the database does not exist (yet, or while it is restored), or the password has
    # changed.
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)

#: The transient errors of asyncpg: the same statement may succeed later. Deadlocks are rare,
#: because rows are locked in one order everywhere. PostgreSQL ends one of the transactions. A
#: prepared statement becomes invalid once when its table gets a new column.
TRANSIENT_ERRORS = (
    *LOST_CONNECTION,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
)
#: The error of asyncpg for a well-formed value that PostgreSQL cannot store.
UNSTORABLE = asyncpg.DataError

#: The errors of asyncpg when no connection can be opened.
CANNOT_CONNECT = (*LOST_CONNECTION, asyncpg.InsufficientPrivilegeError)

#: Seconds to open a connection, and seconds to close the pool.
CONNECT_TIMEOUT = 10.0
CLOSE_TIMEOUT = 5.0

#: Parameters that keep a session from blocking the others. PostgreSQL ends a session, with its
#: locks, when its process stands still within a transaction or when its machine is gone.
SESSION: Mapping[str, str] = {
    "idle_in_transaction_session_timeout": "15s",
    "tcp_keepalives_idle": "30s",
    "tcp_keepalives_interval": "10s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "60s",
}

INSERT_OUTBOX = """
-- The relay sends these messages after the transaction has committed.
INSERT INTO outbox (message_id, destination, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
"""

INSERT_INBOX = """
-- Return a row for each new message. Messages that were applied before give none.
INSERT INTO inbox (queue, message_id) SELECT $1, id FROM unnest($2::text[]) AS come (id) ORDER BY id
ON CONFLICT DO NOTHING RETURNING message_id
"""

DELETE_INBOX = """
-- These messages were not applied in this transaction after all.
DELETE FROM inbox WHERE queue = $1 AND message_id = ANY($2::text[])
"""

#: The options of a service's new database. Text is compared byte by byte: this is fast, and indexes
#: stay valid when the operating system's collation rules change.
CREATE_OPTIONS = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LC_COLLATE 'C'"


class Transaction:
    """An open transaction. Messages that ``send`` takes leave if and only if it commits."""

    def __init__(self, connection: Connection, *, source: str, clock: Clock) -> None:
        self.connection = connection
        self._source = source
        self._clock = clock
        self._messages: list[tuple[str, str, bytes]] = []

    def send(self, destination: str, data: Contract, *, subject: Any = None, **ids: Any) -> None:
        """Queue a message for sending after the commit.

        Fields with their default value are left out.

        Args:
            destination: The message type, which is also the name of a queue or an event.
            data: The payload.
            subject: The CloudEvents subject.
            **ids: Ids (chain, task, dataset …) that become CloudEvents attributes and appear in the
            receiver's logs.
        """
        event = CloudEvent(
            id=str(uuid4()),
            source=f"urn:sluice:{self._source}",
            type=destination,
            subject=None if subject is None else str(subject),
            time=self._clock.now(),
            data=data.model_dump(mode="json", exclude_defaults=True),
            **extra_attributes(**ids),
        )
        self._messages.append((event.id, destination, event.model_dump_json().encode()))

    async def mark_applied(self, queue: str, message_ids: Sequence[str]) -> set[str]:
        """Mark messages as applied and return the ids of those that were not applied before."""
        return {
            row["message_id"]
            for row in await self.connection.fetch(INSERT_INBOX, queue, message_ids)
        }

    async def unmark_applied(self, queue: str, message_ids: Collection[str]) -> None:
        """Undo the mark that these messages, new in this transaction, were applied."""
        await self.connection.execute(DELETE_INBOX, queue, list(message_ids))

    async def _write_outbox(self) -> bool:
        if not self._messages:
            return False
        ids, destinations, bodies = zip(*self._messages, strict=True)
        await self.connection.execute(INSERT_OUTBOX, list(ids), list(destinations), list(bodies))
        return True


@dataclass(frozen=True, slots=True)
class Connections:
    """The number of connections in use, and the maximum."""

    used: int
    limit: int


class Database:
    """The database of a service."""

    def __init__(
        self,
        url: str,
        *,
        source: str,
        clock: Clock | None = None,
        max_connections: int = 8,
        settings: Mapping[str, str] | None = None,
        audited: bool = False,
    ) -> None:
        """Set up the database without connecting.

        Args:
            url: The address of the database.
            source: The name of the service in the messages that it sends.
            clock: The clock. Defaults to that of the system.
            max_connections: The size of the connection pool.
            settings: PostgreSQL's run-time parameters for the connections, besides ``SESSION``.
            audited: Whether each transaction records an audit event of the changes made for a
                person.
        """
        self.url = url
        self.source = source
        self.clock = clock or SystemClock()
        self.on_send: Callable[[], None] | None = None
        self._audited = audited
        self._max_connections = max_connections
        self._settings = session_settings(url, settings)
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def start(self) -> None:
        """Open the connection pool.

        Raises:
            NotAvailable: The server does not answer.
        """
        try:
            self._pool = await asyncpg.create_pool(
                self.url,
                min_size=1,
                max_size=self._max_connections,
                init=_use_json,
                reset=_keep_session,
                command_timeout=60,
                timeout=CONNECT_TIMEOUT,
                server_settings=self._settings,
            )
        except CANNOT_CONNECT as error:
            raise NotAvailable(
                f"the database of {self.source} does not answer: {error_text(error)}",
                service=self.source,
            ) from error

    async def stop(self) -> None:
        """Close the connection pool."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await pool.close()
        except TimeoutError:
            pool.terminate()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Yield a connection for single statements, each of which is its own transaction."""
        if self._pool is None:
            raise NotAvailable(f"the database of {self.source} is not open", service=self.source)
        async with self._pool.acquire() as connection:
            yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Yield a transaction that commits, with its messages, at the end of the block.

        It is rolled back if the block raises.
        """
        async with self.connection() as connection, connection.transaction():
            transaction = Transaction(connection, source=self.source, clock=self.clock)
            yield transaction
            wrote = await transaction._write_outbox()
            if self._audited and (request := current_request()) is not None and not request.reads:
                await note_change(connection, request)
        if wrote and self.on_send is not None:
            self.on_send()

    def connections(self) -> Connections:
        """Return how many connections of the pool are in use now."""
        pool = self._pool
        return Connections(
            0 if pool is None else pool.get_size() - pool.get_idle_size(), self._max_connections
        )

    async def ping(self) -> None:
        """Check that the database answers."""
        async with self.connection() as connection:
            await connection.fetchval("SELECT 1")


async def listen(url: str, channel: str, *, on_notify: Callable[[], None]) -> None:
    """Call ``on_notify`` for each NOTIFY on the channel until the connection is lost.

    ``on_notify`` is also called once at the start, for notifications that came before.

    Raises:
        LOST_CONNECTION: The connection cannot be opened, or is lost in an unclean way.
    """
    closed = asyncio.Event()
    connection = await asyncpg.connect(url, server_settings=session_settings(url))
    try:
        connection.add_termination_listener(lambda _: closed.set())
        await connection.add_listener(channel, lambda *_: on_notify())
        on_notify()
        await closed.wait()
    finally:
        await connection.close(timeout=1.0)


def unstorable() -> Unprocessable:
    """Return the error for a request whose value cannot be stored (``UNSTORABLE``)."""
    what = (
        "a text with a NUL character, a number beyond 64 bits (or 32, of a version), or a time that"
        " no calendar has"
    )
    return Unprocessable(f"a value of the request cannot be stored: {what}")


#: Errors of the service's own machine, which no connection raises.
_MACHINE_ERRORS = {
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EROFS,
}


def to_not_available(error: Exception) -> NotAvailable:
    """Return the error for a request that met a transient error (``TRANSIENT_ERRORS``).

    The clients of all services retry on this error.
    """
    if isinstance(error, asyncpg.DeadlockDetectedError):
        return NotAvailable("another request is changing the same data; try again")
    if isinstance(error, asyncpg.InvalidCachedStatementError):
        return NotAvailable("the database schema has changed; try again")
    if isinstance(error, OSError) and (error.errno in _MACHINE_ERRORS or error.filename):
        return NotAvailable(
            f"the service cannot do this on its machine now: {reason_of(error)}; see its log"
        )
    if isinstance(error, asyncpg.DiskFullError):
        return NotAvailable(
            "the file system of the database has no space left: free space there, and"
            " waiting work continues automatically"
        )
    return NotAvailable("the database does not answer now; try again")


def session_settings(url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the run-time parameters for connections to ``url``: ``SESSION`` and ``extra``.

    Parameters that the URL sets itself are left out
    (``…/database?idle_in_transaction_session_timeout=60s``).
    """
    url_parameters = parse_qs(urlsplit(url).query)
    return {
        name: value
        for name, value in {**SESSION, **(extra or {})}.items()
        if name not in url_parameters
    }


def error_text(error: BaseException) -> str:
    """Return why a database cannot be used, in one line."""
    return reason_of(error)


async def _keep_session(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Do nothing instead of resetting the session, which would cost a round trip for each use.

    Transactions end in their own blocks, and no code changes the state of a session.
    """


async def _use_json(connection: "Connection | asyncpg.Connection[asyncpg.Record]") -> None:
    """Convert jsonb columns from and to Python values."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + orjson.dumps(value, default=str),
        decoder=lambda data: orjson.loads(data[1:]),
    )
