"""Tests of clients of an application in the same process, which behave as over a network."""

import asyncio
from collections.abc import AsyncGenerator

import httpx
import pytest
from fastapi import FastAPI, Request

from sluice.servicekit.web.in_process import StreamingTransport
from sluice.servicekit.web.streaming import Streamed

PIECE = b"x" * 1000


class Application:
    """An application that streams pieces.

    ``piece_count`` counts the pieces so far. ``closed`` is set when the stream ends.
    """

    def __init__(self, pieces: int, *, breaks: bool = False) -> None:
        self.piece_count = 0
        self.closed = asyncio.Event()
        self._pieces = pieces
        self._breaks = breaks
        self.app = FastAPI()
        self.app.post("/echo")(self.echo)
        self.app.get("/pieces")(self.stream)
        self.app.get("/fails")(self.fail)

    async def echo(self, request: Request) -> dict[str, str]:
        return {"said": (await request.body()).decode(), "query": request.url.query}

    async def stream(self) -> Streamed:
        return Streamed(self._generate_pieces(), headers={"X-Kind": "pieces"})

    async def fail(self) -> None:
        raise LookupError("of the application's own")

    async def _generate_pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while self.piece_count < self._pieces:
                self.piece_count += 1
                yield PIECE
            if self._breaks:
                raise LookupError("the file is damaged")
        finally:
            self.closed.set()

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=StreamingTransport(self.app), base_url="http://service")


async def test_ordinary_requests_are_answered() -> None:
    async with Application(0).client() as client:
        answer = await client.post("/echo?a=1", content=b"hello")
        assert answer.json() == {"said": "hello", "query": "a=1"}
        assert (await client.get("/nowhere")).status_code == 404
        assert (await client.get("/fails")).status_code == 500


async def test_stream_waits_for_its_reader_and_ends_with_it() -> None:
    application = Application(1_000_000)
    async with application.client() as client:
        async with client.stream("GET", "/pieces") as answer:
            assert answer.headers["x-kind"] == "pieces"
            first = [piece async for _, piece in _read_some(answer, 3)]
        await asyncio.wait_for(application.closed.wait(), 10)
    assert first == [PIECE] * 3
    assert application.piece_count < 10


async def test_interrupted_stream_raises_a_protocol_error() -> None:
    async with Application(5).client() as client:
        assert (await client.get("/pieces")).content == PIECE * 5
    async with Application(5, breaks=True).client() as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get("/pieces")


async def _read_some(
    answer: httpx.Response, number: int
) -> AsyncGenerator[tuple[int, bytes], None]:
    count = 0
    async for piece in answer.aiter_raw():
        yield count, piece
        count += 1
        if count == number:
            return
