"""TLS proxy for PostgreSQL, because the server of the wheel is built without TLS."""

import asyncio
import ssl
from contextlib import suppress

from tests.servers.certificates import Certificate

#: The message SSLRequest of the PostgreSQL protocol, and the answer that accepts it.
_SSL_REQUEST, _ACCEPT = bytes.fromhex("0000000804d2162f"), b"S"
_CHUNK = 1 << 16


class TlsProxy:
    """A proxy that ends TLS and forwards connections to the port ``target`` of this machine.

    ``connections`` counts the encrypted connections so far.
    """

    def __init__(self, certificate: Certificate, target: int) -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate.certificate, certificate.key)
        self._target = target
        self._server: asyncio.Server | None = None
        self.port = 0
        self.connections = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if await reader.readexactly(len(_SSL_REQUEST)) == _SSL_REQUEST:
                writer.write(_ACCEPT)
                await writer.start_tls(self._context)
                self.connections += 1
                await self._forward(reader, writer)
        writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_server, from_server = await asyncio.open_connection("127.0.0.1", self._target)
        directions = [_copy_stream(reader, from_server), _copy_stream(to_server, writer)]
        await asyncio.gather(*directions, return_exceptions=True)


async def _copy_stream(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await source.read(_CHUNK):
            sink.write(chunk)
            await sink.drain()
    sink.close()
