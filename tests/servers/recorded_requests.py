"""Servers that record requests of clients: the target of a request, and a proxy before it."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PIECE = 1 << 16
_ANSWER = b"{}"


@dataclass
class RecordingServer:
    """A server; ``requests`` has the method, path and headers of each request, in order."""

    port: int
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    @property
    def tokens(self) -> list[str]:
        values = [headers.get("authorization", "") for _, _, headers in self.requests]
        return [text for text in values if text]


@contextmanager
def run_recording_server(
    *, host: str = "127.0.0.1", context: ssl.SSLContext | None = None, redirect: str | None = None
) -> Iterator[RecordingServer]:
    """Serve every path with an empty JSON object, or with a redirect to another address.

    ``context``: for HTTPS."""
    requests: list[RecordingServer] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.rfile.read(int(headers.get("content-length", 0)))
            requests[0].requests.append((self.command, self.path, headers))
            self.send_response(200 if redirect is None else 307)
            if redirect is not None:
                self.send_header("Location", redirect)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(_ANSWER)))
            self.end_headers()
            self.wfile.write(_ANSWER)

        do_GET = do_POST = do_CONNECT = do_DELETE = _handle

        def log_message(self, *_: object) -> None:
            return None

    with ThreadingHTTPServer((host, 0), Handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        requests.append(RecordingServer(server.server_address[1]))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield requests[0]
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Proxy:
    """An HTTP proxy.

    ``heads`` has the requests before a tunnel was open, and ``passed`` what clients sent through
    tunnels.
    """

    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    passed: bytearray = field(default_factory=bytearray)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def variables(self) -> dict[str, str]:
        """Return an environment that uses this proxy for everything."""
        names = ("http_proxy", "https_proxy", "all_proxy")
        proxy_variables = {name: self.url for name in names}
        return {
            **proxy_variables,
            **{name.upper(): self.url for name in names},
            "no_proxy": "",
            "NO_PROXY": "",
        }


@contextmanager
def run_recording_proxy(target: int = 0) -> Iterator[Proxy]:
    """Yield a proxy whose tunnels all lead to the port ``target`` of this machine."""
    proxy, ready, stop = Proxy(), threading.Event(), threading.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _close_at_end(writer):
            head = await reader.readuntil(b"\r\n\r\n")
            proxy.heads.append(head)
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                back, forth = await asyncio.open_connection("127.0.0.1", target)
                async with _close_at_end(forth):
                    await asyncio.gather(
                        _forward_stream(reader, forth, proxy.passed),
                        _forward_stream(back, writer, bytearray()),
                    )
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async def run() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            proxy.port = server.sockets[0].getsockname()[1]
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=asyncio.run, args=[run()])
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        stop.set()
        thread.join()


@asynccontextmanager
async def _close_at_end(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Close the connection at the end, also where its other side ended it before."""
    with suppress(OSError, asyncio.IncompleteReadError):
        try:
            yield
        finally:
            writer.close()
            await writer.wait_closed()


async def _forward_stream(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, record: bytearray
) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            record += piece
            sink.write(piece)
            await sink.drain()
    sink.close()
