"""Helpers of the conformance suite: a broker with faults, and a consumer in the background."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import asyncpg

from sluice.contracts.messaging.queues import Queue
from sluice.servicekit.transport.base import (
    Delivery,
    Message,
    Topology,
    Transport,
    TransportUnavailable,
)
from sluice.servicekit.transport.open import open_transport
from stack.ports import free_ports
from tests.servers.forwarder import Forwarder
from tests.servers.postgres import PostgresServer
from tests.servers.rabbitmq import RabbitServer
from tests.waiting import eventually

# Seconds. The deadline is generous, as it only ends a failed test. It is shorter than the lease,
# which must not be what saves a message.
DEADLINE = 60.0

TOPOLOGY = Topology.of(
    Queue("work", "tests", delivery_limit=3),
    Queue("once", "tests", delivery_limit=1),
    Queue("audit", "tests", events=frozenset({"thing.made"})),
    Queue("mail", "tests", events=frozenset({"thing.made", "thing.lost"})),
    Queue("bell", "tests", events=frozenset({"thing.rung"}), wakes=True),
    events=["nobody.listens"],
)


class Broker(Protocol):
    """A broker for one test."""

    url: str
    dead_url: str

    async def cut_connections(self) -> None:
        """Cut every connection to the broker."""
        ...

    async def restart(self) -> None: ...

    def start_forwarder(self) -> tuple[Forwarder, str]:
        """Return a closed proxy to the broker, and the URL of the broker through it."""
        ...


@dataclass
class PostgresBroker:
    url: str
    server: PostgresServer
    dead_url: str = "postgresql://postgres:@/postgres?host=/nonexistent"

    async def cut_connections(self) -> None:
        admin = await asyncpg.connect(self.server.url())
        name = urlsplit(self.url).path.lstrip("/")
        await admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name
        )
        await admin.close()

    async def restart(self) -> None:
        await asyncio.to_thread(self.server.restart)

    def start_forwarder(self) -> tuple[Forwarder, str]:
        [port] = free_ports(1)
        socket = self.server.socket_folder / ".s.PGSQL.5432"
        return Forwarder(
            port=port, target=socket
        ), f"postgresql://postgres:@127.0.0.1:{port}{urlsplit(self.url).path}"


@dataclass
class RabbitBroker:
    url: str
    server: RabbitServer
    dead_url: str = "amqp://guest:guest@127.0.0.1:1/"

    async def cut_connections(self) -> None:
        await asyncio.to_thread(self.server.close_connections, urlsplit(self.url).path.lstrip("/"))

    async def restart(self) -> None:
        await asyncio.to_thread(self.server.restart)

    def start_forwarder(self) -> tuple[Forwarder, str]:
        [port] = free_ports(1)
        return Forwarder(port=port, target=self.server.amqp_port), self.url.replace(
            f":{self.server.amqp_port}/", f":{port}/"
        )


@asynccontextmanager
async def start_transport(url: str, topology: Topology) -> AsyncGenerator[Transport, None]:
    transport = open_transport(url, topology)
    await transport.start()
    try:
        yield transport
    finally:
        await transport.stop()


class Receiver:
    """Consume in the background; the test takes deliveries one by one."""

    def __init__(self, transport: Transport, queue: str, prefetch: int) -> None:
        self._batches = transport.consume(queue, prefetch=prefetch)
        self._arrived: asyncio.Queue[Delivery] = asyncio.Queue()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            async for batch in self._batches:
                for delivery in batch:
                    self._arrived.put_nowait(delivery)
        finally:
            await self._batches.aclose()

    async def next(self) -> Delivery:
        async with asyncio.timeout(DEADLINE):
            return await self._arrived.get()

    async def take(self, count: int) -> list[Delivery]:
        return [await self.next() for _ in range(count)]

    def is_empty(self) -> bool:
        return self._arrived.empty()

    async def close(self) -> None:
        """End the consumption, which returns unanswered messages."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@asynccontextmanager
async def start_receiver(
    transport: Transport, queue: str = "work", prefetch: int = 10
) -> AsyncGenerator[Receiver, None]:
    receiver = Receiver(transport, queue, prefetch)
    try:
        yield receiver
    finally:
        await receiver.close()


async def require_no_other_message(transport: Transport, receiver: Receiver, queue: str) -> None:
    """Require that a message that is sent now comes next."""
    await transport.send(make_messages("last", to=queue))
    last = await receiver.next()
    assert last.message_id == "last"
    await last.ack()


async def wait_for(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a condition, and fail the test at the deadline."""
    await eventually(condition, seconds=DEADLINE)


async def send_until_accepted(transport: Transport, messages: Sequence[Message]) -> int:
    """Send until it succeeds, as the outbox does, and return the number of failures."""
    failures = 0

    async def is_sent() -> bool:
        nonlocal failures
        try:
            await transport.send(messages)
        except TransportUnavailable:
            failures += 1
            return False
        return True

    await eventually(is_sent, what="the messages are sent", seconds=DEADLINE, period=0.05)
    return failures


def make_messages(*ids: str, to: str = "work") -> list[Message]:
    return [Message(id=one, destination=to, body=f'{{"id": "{one}"}}'.encode()) for one in ids]


async def has_dead_letters(transport: Transport, queue: str, count: int) -> bool:
    """Return whether the queue has this number of dead letters."""
    return await transport.count_dead(queue) == count
