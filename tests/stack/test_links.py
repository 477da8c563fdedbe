"""Proxies between the processes of a stack: balancing, and the effect of each fault."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from stack.links import FaultKind, ProxyLink
from stack.ports import LOOPBACK, free_ports
from stack.targets import Target
from tests.waiting import eventually

#: Longer than any test, for faults that should not end by themselves.
LONG = 60.0


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: bytes) -> None:
    """Send the server's name, then echo all data."""
    writer.write(name)
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def serve(port: int, name: bytes) -> asyncio.Server:
    return await asyncio.start_server(lambda r, w: answer(r, w, name), LOOPBACK, port)


@dataclass
class Scene:
    """``port`` is the local port of the proxy, and ``servers`` are the target's replicas."""

    link: ProxyLink
    target: Target
    servers: list[asyncio.Server]
    port: int
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
        self.writers.append(writer)
        return reader, writer

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection and wait for the name of the server."""
        reader, writer = await self.open()
        async with asyncio.timeout(10):
            await reader.readexactly(1)
        return reader, writer

    async def name(self) -> bytes:
        """Return the name of the replica that a new connection leads to."""
        reader, _ = await self.open()
        async with asyncio.timeout(10):
            return await reader.readexactly(1)

    async def refuses(self) -> bool:
        try:
            await self.open()
        except ConnectionRefusedError:
            return True
        return False


@asynccontextmanager
async def run_replicas(count: int) -> AsyncIterator[Scene]:
    ports = free_ports(count)
    target = Target(ports)
    link = ProxyLink("client>server")
    servers = [await serve(port, b"%d" % number) for number, port in enumerate(ports)]
    scene = Scene(link, target, servers, link.find_local_port(80, target))
    for endpoint in target.endpoints:
        endpoint.process_started()
    await asyncio.gather(*(endpoint.wait() for endpoint in target.endpoints))
    try:
        yield scene
    finally:
        link.close()
        for endpoint in target.endpoints:
            endpoint.process_ended()
        for writer in scene.writers:
            writer.close()
        await asyncio.gather(
            *(writer.wait_closed() for writer in scene.writers), return_exceptions=True
        )
        for server in servers:
            server.close()
        await asyncio.gather(*(server.wait_closed() for server in servers))


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> bytes:
    writer.write(data)
    async with asyncio.timeout(30):
        return await reader.readexactly(len(data))


async def test_replicas_take_turns_and_dead_ones_are_skipped() -> None:
    async with run_replicas(2) as scene:
        assert sorted([await scene.name() for _ in range(4)]) == [b"0", b"0", b"1", b"1"]
        scene.target.endpoints[0].process_ended()
        assert [await scene.name() for _ in range(3)] == [b"1", b"1", b"1"]


async def test_stopped_replica_is_skipped_until_it_starts_again() -> None:
    async with run_replicas(2) as scene:
        scene.servers[0].close()
        assert [await scene.name() for _ in range(3)] == [b"1", b"1", b"1"]
        scene.servers[0] = await serve(scene.target.endpoints[0].port, b"0")
        await scene.target.endpoints[0].wait()
        assert {await scene.name() for _ in range(2)} == {b"0", b"1"}


async def test_target_that_is_down_refuses_connections() -> None:
    async with run_replicas(1) as scene:
        scene.target.endpoints[0].process_ended()
        assert await scene.refuses()


async def test_large_data_arrive_complete_and_the_end_is_forwarded() -> None:
    async with run_replicas(1) as scene:
        reader, writer = await scene.connect()
        data = bytes(range(256)) * 40_000
        assert await echo(reader, writer, data) == data
        writer.write_eof()
        assert await reader.read() == b""

        async def forgotten() -> bool:
            return scene.link.connections == 0

        await eventually(forgotten, what="the link forgets the connection")


async def test_cut_fault_ends_connections_and_refuses_new_ones() -> None:
    async with run_replicas(1) as scene:
        reader, _ = await scene.connect()
        scene.link.break_down(FaultKind.CUT, LONG, 0)
        assert await reader.read() == b""
        assert await scene.refuses()
        scene.link.end_fault()
        assert await scene.name() == b"0"


async def test_reset_fault_resets_connections() -> None:
    async with run_replicas(1) as scene:
        reader, _ = await scene.connect()
        scene.link.break_down(FaultKind.RESET, LONG, 0)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        with pytest.raises(ConnectionResetError):
            await scene.name()


async def test_delay_fault_keeps_the_order_of_data() -> None:
    async with run_replicas(1) as scene:
        reader, writer = await scene.connect()
        scene.link.break_down(FaultKind.DELAY, LONG, 0.2)
        writer.write(b"one ")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await reader.readexactly(1)
        writer.write(b"two ")
        scene.link.end_fault()
        writer.write(b"three")
        async with asyncio.timeout(10):
            assert await reader.readexactly(13) == b"one two three"


async def test_black_hole_fault_stops_all_data_until_it_ends() -> None:
    async with run_replicas(1) as scene:
        reader, writer = await scene.connect()
        scene.link.break_down(FaultKind.BLACK_HOLE, LONG, 0)
        writer.write(b"held")
        new_reader, _ = await scene.open()
        for silent in (reader, new_reader):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await silent.readexactly(1)
        scene.link.break_down(FaultKind.BLACK_HOLE, 0.05, 0)
        async with asyncio.timeout(10):
            assert await reader.readexactly(4) == b"held"
            assert await new_reader.readexactly(1) == b"0"
        assert scene.link.fault is None
