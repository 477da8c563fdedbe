"""A door to PostgreSQL that speaks TLS with whoever comes, as the server itself does where it was
built with it: the one of our wheel was not."""

import asyncio
import ssl
from contextlib import suppress

from tests.servers.certificates import Certificate

#: What a client sends that wants TLS (PostgreSQL's protocol, SSLRequest), and what it is answered.
_REQUEST, _YES = bytes.fromhex("0000000804d2162f"), b"S"
_PIECE = 1 << 16


class TlsDoor:
    """``passed``: connections that were let through, all of them encrypted."""

    def __init__(self, certificate: Certificate, target: int) -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate.certificate, certificate.key)
        self._target = target
        self._server: asyncio.Server | None = None
        self.port = 0
        self.passed = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if await reader.readexactly(len(_REQUEST)) == _REQUEST:
                writer.write(_YES)
                await writer.start_tls(self._context)
                self.passed += 1
                await self._pass_on(reader, writer)
        writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server, from_server = await asyncio.open_connection("127.0.0.1", self._target)
        ways = [_pipe(reader, from_server), _pipe(to_server, writer)]
        await asyncio.gather(*ways, return_exceptions=True)


async def _pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await source.read(_PIECE):
            sink.write(piece)
            await sink.drain()
    sink.close()
