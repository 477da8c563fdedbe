"""Bytes between two sockets, in both directions, which can be held back, delayed and cut."""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

#: Bytes held back by a delay before no more are read.
HELD_LIMIT = 1 << 20
#: Makes the system send a reset instead of an orderly end.
RESET = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class LinkState:
    """How a link is now. ``hole``: nothing passes; ``delay``: seconds that everything takes;
    ``reset``: who sends is cut off."""

    hole: bool = False
    delay: float = 0.0
    reset: bool = False


@dataclass(slots=True)
class Side(asyncio.Protocol):
    """One of the two connections; ``queue`` holds what is on its way to it: (time of arrival,
    bytes; None: the end)."""

    pipe: "Pipe"
    raw: socket.socket
    transport: asyncio.Transport | None = None
    queue: deque[tuple[float, bytes | None]] = field(default_factory=deque)
    held: int = 0
    full: bool = False
    reading: bool = True
    ended: bool = False
    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.pipe.carry(self, data)

    def eof_received(self) -> bool:
        self.pipe.carry(self, None)
        return True  # the other direction stays open

    def connection_lost(self, exc: Exception | None) -> None:
        self.pipe.lost(self, reset=exc is not None)

    def pause_writing(self) -> None:
        self.full = True
        self.pipe.other(self).settle()

    def resume_writing(self) -> None:
        self.full = False
        self.pipe.other(self).settle()

    def settle(self) -> None:
        """Reads or rests, as the link and the other side are now."""
        other = self.pipe.other(self)
        reading = not (self.pipe.state.hole or other.full or other.held > HELD_LIMIT)
        if self.transport is None or self.transport.is_closing() or reading == self.reading:
            return
        self.reading = reading
        if reading:
            self.transport.resume_reading()
        else:
            self.transport.pause_reading()

    def put(self, data: bytes | None, at: float) -> None:
        self.queue.append((at, data))
        self.held += len(data or b"")
        self.pump()

    def pump(self) -> None:
        """Writes what has arrived by now; comes back for the rest."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        loop = asyncio.get_running_loop()
        while self.queue and self.transport is not None and not self.pipe.state.hole:
            at, data = self.queue[0]
            if at > loop.time():
                self.timer = loop.call_at(at, self.pump)
                break
            self.queue.popleft()
            self.held -= len(data or b"")
            self.write(data)
        self.pipe.other(self).settle()

    def write(self, data: bytes | None) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        if data is not None:
            self.transport.write(data)
            return
        self.ended = True
        if self.pipe.other(self).ended:
            self.pipe.close()
        elif self.transport.can_write_eof():
            self.transport.write_eof()

    def close(self, *, reset: bool) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if self.transport is None:
            self.raw.close()
        elif reset and not self.transport.is_closing():
            self.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.transport.abort()
        else:
            self.transport.close()


class Pipe:
    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        state: LinkState,
        on_end: "Callable[[Pipe], None]",
    ) -> None:
        self.state = state
        self.client = Side(self, client)
        self.server = Side(self, server)
        self._on_end = on_end
        self._over = False

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self.server, sock=self.server.raw)
        await loop.connect_accepted_socket(lambda: self.client, self.client.raw)
        self.state_changed()

    def other(self, side: Side) -> Side:
        return self.server if side is self.client else self.client

    def carry(self, origin: Side, data: bytes | None) -> None:
        goal = self.other(origin)
        if self.state.reset:
            self.close(reset=True)
        elif goal.transport is None or goal.queue or self.state.hole or self.state.delay:
            goal.put(data, asyncio.get_running_loop().time() + self.state.delay)
        else:
            goal.write(data)

    def lost(self, side: Side, *, reset: bool) -> None:
        """One side has gone: the other gets what is still on its way, then goes, too."""
        other = self.other(side)
        if other.queue and not reset:
            other.put(None, other.queue[-1][0])
            side.ended = True
        else:
            self.close(reset=reset)

    def state_changed(self) -> None:
        for side in (self.client, self.server):
            side.settle()
            side.pump()

    def close(self, *, reset: bool = False) -> None:
        if self._over:
            return
        self._over = True
        self.client.close(reset=reset)
        self.server.close(reset=reset)
        self._on_end(self)
