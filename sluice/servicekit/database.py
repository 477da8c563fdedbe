"""A service's own PostgreSQL database: a pool, and transactions whose messages commit with them
(invariant 2).

The lock rule of all services: a statement that changes or locks several rows does so in the order
of their key, and a transaction that locks several rows one after the other, too; what may be left
to others is taken with SKIP LOCKED. So two transactions never wait for each other.
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

from sluice.contracts.base import Contract
from sluice.contracts.messages import CloudEvent, extra_attributes
from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.servicekit.audit.request import request_now
from sluice.servicekit.audit.rows import note_change
from sluice.servicekit.clock import Clock, SystemClock

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = PoolConnectionProxy[asyncpg.Record]
else:
    Connection = object  # the class is generic for the type checker only

#: What asyncpg raises when the server is gone, shutting down or starting, or the link broke.
LOST_CONNECTION = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    # What is said on a connection between the server's last words and its end ("cannot switch to
    # state …").
    asyncpg.InternalClientError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    # This process stood still, and was taken for dead (``SESSION``).
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.IdleSessionTimeoutError,
    asyncpg.InsufficientResourcesError,
    # The login or the database is not there (yet, or while it is restored), or has another password
    # now.
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)

#: What asyncpg raises when nothing is wrong with what was asked: the same is tried again. Rows are
#: locked in one order everywhere (see below), so that a deadlock is rare; PostgreSQL ends one of
#: its transactions, and the other goes on. A table that has just got another column makes what a
#: connection had prepared for it invalid, once.
PASSING = (
    *LOST_CONNECTION,
    asyncpg.DeadlockDetectedError,
    asyncpg.InvalidCachedStatementError,
)
#: What asyncpg raises for a value that is right in form, and nothing that PostgreSQL holds.
UNSTORABLE = asyncpg.DataError

#: What asyncpg raises when there is no way into the database now.
CANNOT_CONNECT = (*LOST_CONNECTION, asyncpg.InsufficientPrivilegeError)

#: Seconds that a new connection may take, and that the pool gets to end.
CONNECT_TIMEOUT = 10.0
CLOSE_TIMEOUT = 5.0

#: How a session is kept from holding up the others: PostgreSQL ends one whose process stands still
#: within a transaction (it is frozen, swapped out, in a debugger), with its locks, and one whose
#: machine is gone.
SESSION: Mapping[str, str] = {
    "idle_in_transaction_session_timeout": "15s",
    "tcp_keepalives_idle": "30s",
    "tcp_keepalives_interval": "10s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "60s",
}

INSERT_OUTBOX = """
-- Messages of this transaction, sent after it has committed.
INSERT INTO outbox (message_id, destination, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
"""

INSERT_INBOX = """
-- A row for each message that comes for the first time, none for those that were applied before.
INSERT INTO inbox (queue, message_id) SELECT $1, id FROM unnest($2::text[]) AS come (id) ORDER BY id
ON CONFLICT DO NOTHING RETURNING message_id
"""

DELETE_INBOX = """
-- These messages were not applied in this transaction after all.
DELETE FROM inbox WHERE queue = $1 AND message_id = ANY($2::text[])
"""

#: How a service's database is made. Text is compared byte by byte: names sort as in C, comparing
#: them is fast, and an index stays right when the operating system's rules for sorting change.
CREATE_OPTIONS = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LC_COLLATE 'C'"


class Transaction:
    """An open transaction. ``send`` promises a message: it leaves if, and only if, the transaction
    commits."""

    def __init__(self, connection: Connection, *, source: str, clock: Clock) -> None:
        self.connection = connection
        self._source = source
        self._clock = clock
        self._messages: list[tuple[str, str, bytes]] = []

    def send(self, destination: str, data: Contract, *, subject: Any = None, **ids: Any) -> None:
        """``ids`` (chain, task, dataset …) become CloudEvents attributes, which the receiver's logs
        carry on. Fields that have their default are left out: a receiver of the release before may
        not know them."""
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

    async def first_time(self, queue: str, message_ids: Sequence[str]) -> set[str]:
        """Marks messages as applied, in this transaction; gives those that were not before."""
        return {
            row["message_id"]
            for row in await self.connection.fetch(INSERT_INBOX, queue, message_ids)
        }

    async def leave_for_later(self, queue: str, message_ids: Collection[str]) -> None:
        """Take back that these messages, new in this transaction, were applied."""
        await self.connection.execute(DELETE_INBOX, queue, list(message_ids))

    async def _write_outbox(self) -> bool:
        if not self._messages:
            return False
        ids, destinations, bodies = zip(*self._messages, strict=True)
        await self.connection.execute(INSERT_OUTBOX, list(ids), list(destinations), list(bodies))
        return True


@dataclass(frozen=True, slots=True)
class Connections:
    used: int
    limit: int


class Database:
    """``source`` names the service in the messages it sends. ``on_send`` is called after a commit
    that left messages behind. ``settings``: PostgreSQL's run-time parameters for its connections,
    besides ``SESSION``. ``audited``: what transactions change for people is noted with them."""

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
        self.url = url
        self.source = source
        self.clock = clock or SystemClock()
        self.on_send: Callable[[], None] | None = None
        self._audited = audited
        self._max_connections = max_connections
        self._settings = session_settings(url, settings)
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def start(self) -> None:
        """Raises ``NotAvailable`` when the server does not answer."""
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
        """A connection for single statements (each its own transaction)."""
        if self._pool is None:
            raise NotAvailable(f"the database of {self.source} is not open", service=self.source)
        async with self._pool.acquire() as connection:
            yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Commits at the end of the block, with the messages sent in it; rolls both back when it
        raises."""
        async with self.connection() as connection, connection.transaction():
            transaction = Transaction(connection, source=self.source, clock=self.clock)
            yield transaction
            wrote = await transaction._write_outbox()
            if self._audited and (request := request_now()) is not None and not request.reads:
                await note_change(connection, request)
        if wrote and self.on_send is not None:
            self.on_send()

    def connections(self) -> Connections:
        """How many of the pool's connections are in use at this moment."""
        pool = self._pool
        return Connections(
            0 if pool is None else pool.get_size() - pool.get_idle_size(), self._max_connections
        )

    async def ping(self) -> None:
        async with self.connection() as connection:
            await connection.fetchval("SELECT 1")


async def listen(url: str, channel: str, *, on_notify: Callable[[], None]) -> None:
    """Calls ``on_notify`` for each NOTIFY on the channel, and once when it begins to listen, for
    what came before; on a connection of its own. Returns when that is lost; may raise one of
    ``LOST_CONNECTION``."""
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
    """What a request is answered that met ``UNSTORABLE``."""
    what = (
        "a text with a NUL character, a number beyond 64 bits (or 32, of a version), or a time that"
        " no calendar has"
    )
    return Unprocessable(f"a value of the request cannot be stored: {what}")


#: What a service meets on its own machine, and no connection raises.
_MACHINE_ERRORS = {
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EROFS,
}


def not_now(error: Exception) -> NotAvailable:
    """What a request is answered that met one of ``PASSING``; the clients of all services try again
    by themselves."""
    if isinstance(error, asyncpg.DeadlockDetectedError):
        return NotAvailable("another request changes the same things at this moment; try again")
    if isinstance(error, asyncpg.InvalidCachedStatementError):
        return NotAvailable("the database has just got another form; try again")
    if isinstance(error, OSError) and (error.errno in _MACHINE_ERRORS or error.filename):
        return NotAvailable(
            f"the service cannot do this on its machine now: {error.strerror}; its log names the"
            " place"
        )
    if isinstance(error, asyncpg.DiskFullError):
        return NotAvailable(
            "the file system of the database has no room left: make room there, and what waits goes"
            " on by itself"
        )
    return NotAvailable("the database does not answer now; try again")


def session_settings(url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Run-time parameters for connections to ``url``: ``SESSION`` and ``extra``, but for those that
    the URL sets itself (``…/database?idle_in_transaction_session_timeout=60s``)."""
    given = parse_qs(urlsplit(url).query)
    return {
        name: value for name, value in {**SESSION, **(extra or {})}.items() if name not in given
    }


def error_text(error: BaseException) -> str:
    """What an error says; its class where it says nothing (a connection that timed out)."""
    return str(error) or type(error).__name__


async def _keep_session(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Nothing to undo before the next use: transactions end in their own blocks, and nobody changes
    a session's state. asyncpg's own reset would cost a round trip for each use."""


async def _use_json(connection: "Connection | asyncpg.Connection[asyncpg.Record]") -> None:
    """jsonb columns hold and give Python values."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        format="binary",
        encoder=lambda value: b"\x01" + orjson.dumps(value, default=str),
        decoder=lambda data: orjson.loads(data[1:]),
    )
