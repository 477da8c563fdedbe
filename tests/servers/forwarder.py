"""A port of this machine that forwards to another port, or to none while it is closed."""

import asyncio
from pathlib import Path


class Forwarder:
    """A forwarder to ``target``, a port or a socket in the file system."""

    def __init__(self, *, port: int, target: int | Path) -> None:
        self.port = port
        self._target = target
        self._until_cut: int | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def close(self) -> None:
        """Close all connections, and refuse later connections."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut_after(self, size: int) -> None:
        """Close the connection on which the next ``size`` bytes from all clients end."""
        self._until_cut = size

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if isinstance(self._target, Path):
                far_reader, far_writer = await asyncio.open_unix_connection(self._target)
            else:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
            try:
                await asyncio.gather(
                    self._pump_to_server(reader, far_writer), _pump(far_reader, writer)
                )
            finally:
                far_writer.close()
        except (OSError, asyncio.CancelledError):
            pass  # the other side sees that the connection is closed
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _pump_to_server(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter
    ) -> None:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
            if self._until_cut is not None:
                self._until_cut -= len(data)
                if self._until_cut <= 0:
                    self._until_cut = None
                    raise ConnectionAbortedError("cut here")
        target.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        target.write(data)
        await target.drain()
    target.close()
