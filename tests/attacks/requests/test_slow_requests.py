"""Tests of requests that are sent byte by byte and never end."""

import asyncio

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from sluice.servicekit.web.connections import PatientProtocol
from sluice.servicekit.web.request_limits import Limits
from tests.attacks.requests.raw_requests import MAX_BODY, TIMEOUT, format_head, serve_with_limits

#: Seconds between two bytes.
BYTE_SECONDS = TIMEOUT / 10


class AnswerCollector(asyncio.Protocol):
    """All data until the end of the connection. A client that still sends gets a reset."""

    def __init__(self) -> None:
        self.data = b""
        self.has_ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.data += data

    def connection_lost(self, exc: Exception | None) -> None:
        self.has_ended.set()


async def send_byte_by_byte(port: int, beginning: bytes, drop: bytes) -> bytes:
    """Send ``drop`` again and again until there is an answer, and return the answer."""
    loop = asyncio.get_running_loop()
    transport, answer = await loop.create_connection(AnswerCollector, "127.0.0.1", port)
    transport.write(beginning)
    ended = asyncio.create_task(answer.has_ended.wait())
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
    async with serve_with_limits() as port:
        answer = await send_byte_by_byte(port, b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", drop)
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("beginning", "drop"),
    [
        (format_head("POST", content_length="60000"), b"x"),
        (format_head("POST", transfer_encoding="chunked"), b"1\r\nx\r\n"),
    ],
    ids=["length", "chunks"],
)
async def test_body_that_arrives_byte_by_byte_times_out(beginning: bytes, drop: bytes) -> None:
    async with serve_with_limits() as port:
        answer = await send_byte_by_byte(port, beginning, drop)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"SLUICE_DMS_BODY_SECONDS" in answer


async def test_answer_that_the_client_does_not_read_times_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(PatientProtocol, "read_seconds", TIMEOUT)
    ended, size = asyncio.Event(), 64 * 1024 * 1024

    async def answer_with_large_body(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64):
            body = b"x" * (size // 64)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        ended.set()

    async with serve_with_limits(app=answer_with_large_body) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(format_head())
        async with asyncio.timeout(30):
            await ended.wait()
            assert 0 < len(await reader.read()) < size
        writer.close()


@pytest.mark.parametrize(
    "beginning",
    [b"", b"GET / HTTP/1.1\r\nx: y", format_head("POST", content_length="60000") + b"x"],
    ids=["nothing", "half a head", "half a body"],
)
async def test_incomplete_requests_are_closed_for_new_connections(beginning: bytes) -> None:
    """The oldest request is closed first, one for each new connection."""
    async with serve_with_limits(Limits(body=MAX_BODY, body_seconds=600.0), connections=3) as port:
        incomplete_requests = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for _, writer in incomplete_requests:
            writer.write(beginning)
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).is_success
        async with asyncio.timeout(30):
            assert b"503" in await incomplete_requests[0][0].read() or beginning.startswith(b"POST")
        assert not incomplete_requests[1][0].at_eof()
        for _, writer in incomplete_requests:
            writer.close()


async def test_incomplete_requests_of_the_address_with_most_connections_are_closed() -> None:
    async with serve_with_limits(connections=3) as port:
        other = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.9", 0))
        incomplete_requests = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        further = await asyncio.open_connection("127.0.0.1", port)
        assert (await incomplete_requests[0][0].readline()).startswith(b"HTTP/1.1 503 ")
        other[1].write(format_head(connection="close"))
        assert (await other[0].readline()).startswith(b"HTTP/1.1 200 ")
        for _, writer in (other, *incomplete_requests, further):
            writer.close()


async def test_idle_connections_are_closed_for_new_connections() -> None:
    async with serve_with_limits(connections=3) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        for reader, writer in idle:
            writer.write(format_head())
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        async with httpx.AsyncClient(timeout=30) as client:
            assert (await client.get(f"http://127.0.0.1:{port}/")).is_success
        async with asyncio.timeout(30):
            assert b"503" not in await idle[0][0].read()
        for _, writer in idle:
            writer.close()


async def test_unread_answers_are_cut_off_for_new_connections() -> None:
    """The oldest answer is cut off first, so that slow readers do not block the server."""

    async def answer_with_large_body(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64 if scope["path"] == "/large" else 1):
            body = b"x" * 1024 * 1024
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    request = format_head().replace(b"GET / ", b"GET /large ")
    async with serve_with_limits(app=answer_with_large_body, connections=3) as port:
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
