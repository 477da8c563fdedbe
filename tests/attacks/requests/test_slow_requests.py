"""Tests of requests that are sent byte by byte and never end."""

import asyncio

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from sluice.servicekit.web.connections import PatientProtocol
from sluice.servicekit.web.request_limits import Limits
from tests.attacks.requests.raw_requests import MAX_BODY, TIMEOUT, head, served

#: Seconds between two bytes.
BYTE_SECONDS = TIMEOUT / 10


class Answer(asyncio.Protocol):
    """All data until the end of the connection. A client that still sends gets a reset."""

    def __init__(self) -> None:
        self.data = b""
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


async def dribbled(port: int, beginning: bytes, drop: bytes) -> bytes:
    """Send ``drop`` again and again until there is an answer, and return the answer."""
    loop = asyncio.get_running_loop()
    transport, answer = await loop.create_connection(Answer, "127.0.0.1", port)
    transport.write(beginning)
    ended = asyncio.create_task(answer.ended.wait())
    async with asyncio.timeout(30):
        while not ended.done():
            transport.write(drop)
            await asyncio.wait([ended], timeout=BYTE_SECONDS)
    return answer.data


@pytest.mark.parametrize("drop", [b"y", b"\r\nx: y"])
async def test_head_that_arrives_byte_by_byte_times_out(
    monkeypatch: pytest.MonkeyPatch, drop: bytes
) -> None:
    monkeypatch.setattr(PatientProtocol, "head_seconds", TIMEOUT)
    async with served() as port:
        answer = await dribbled(port, b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", drop)
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (head("POST", content_length="60000"), b"x"),
        (head("POST", transfer_encoding="chunked"), b"1\r\nx\r\n"),
    ],
    ids=["length", "chunks"],
)
async def test_body_that_arrives_byte_by_byte_times_out(beginning: bytes, drop: bytes) -> None:
    async with served() as port:
        answer = await dribbled(port, beginning, drop)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"SLUICE_DMS_BODY_SECONDS" in answer


async def test_answer_that_the_client_does_not_read_times_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PatientProtocol, "read_seconds", TIMEOUT)
    ended, size = asyncio.Event(), 64 * 1024 * 1024

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64):
            body = b"x" * (size // 64)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        ended.set()

    async with served(app=large) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head())
        async with asyncio.timeout(30):
            await ended.wait()
            assert 0 < len(await reader.read()) < size
        writer.close()


@pytest.mark.parametrize(
    "beginning",
    [b"", b"GET / HTTP/1.1\r\nx: y", head("POST", content_length="60000") + b"x"],
    ids=["nothing", "half a head", "half a body"],
)
async def test_incomplete_requests_are_closed_for_new_connections(beginning: bytes) -> None:
    """The oldest request is closed first, one for each new connection."""
    async with served(Limits(body=MAX_BODY, body_seconds=600.0), connections=3) as port:
        half = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for _, writer in half:
            writer.write(beginning)
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).is_success
        async with asyncio.timeout(30):
            assert b"503" in await half[0][0].read() or beginning.startswith(b"POST")
        assert not half[1][0].at_eof()
        for _, writer in half:
            writer.close()


async def test_incomplete_requests_of_the_address_with_most_connections_are_closed() -> None:
    async with served(connections=3) as port:
        other = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.9", 0))
        half = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        further = await asyncio.open_connection("127.0.0.1", port)
        assert (await half[0][0].readline()).startswith(b"HTTP/1.1 503 ")
        other[1].write(head(connection="close"))
        assert (await other[0].readline()).startswith(b"HTTP/1.1 200 ")
        for _, writer in (other, *half, further):
            writer.close()


async def test_idle_connections_are_closed_for_new_connections() -> None:
    async with served(connections=3) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for reader, writer in idle:
            writer.write(head())
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).is_success
        async with asyncio.timeout(30):
            assert b"503" not in await idle[0][0].read()
        for _, writer in idle:
            writer.close()


async def test_unread_answers_are_cut_off_for_new_connections() -> None:
    """The oldest answer is cut off first, so that slow readers do not block the server."""

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64 if scope["path"] == "/large" else 1):
            body = b"x" * 1024 * 1024
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    request = head().replace(b"GET / ", b"GET /large ")
    async with served(app=large, connections=3) as port:
        slow = [await asyncio.open_connection("127.0.0.1", port, limit=1024) for _ in range(3)]
        for reader, writer in slow:
            writer.write(request)
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).is_success
        async with asyncio.timeout(30):
            assert not (await slow[0][0].read()).endswith(b"0\r\n\r\n"), (
                "the oldest answer was cut off"
            )
            assert (await slow[1][0].read()).endswith(b"0\r\n\r\n")
        for _, writer in slow:
            writer.close()
