"""Bytes between two sockets, in both directions, which can be held back, delayed and cut."""

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

#: Bytes that a delay holds back before reading stops.
MAX_QUEUED_BYTES = 1 << 20
#: Makes the kernel send a reset instead of an orderly end.
RESET = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class LinkState:
    """The state of a link.

    ``hole`` means that nothing passes, ``delay`` is the delay in seconds, and ``reset`` resets a
    connection as soon as something is sent.
    """

    hole: bool = False
    delay: float = 0.0
    reset: bool = False


@dataclass(slots=True)
class Side(asyncio.Protocol):
    """One of the two connections.

    ``queue`` has the bytes that are on their way to it, with their times of arrival. None is the
    end.
    """

    pipe: "Pipe"
    raw: socket.socket
    transport: asyncio.Transport | None = None
    queue: deque[tuple[float, bytes | None]] = field(default_factory=deque)
    queued_bytes: int = 0
    full: bool = False
    reading: bool = True
    ended: bool = False
    timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Pass data on."""
        self.pipe.carry(self, data)

    def eof_received(self) -> bool:
        """Pass the end of the stream on."""
        self.pipe.carry(self, None)
        return True  # the other direction stays open

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the loss of the connection."""
        self.pipe.lost(self, reset=exc is not None)

    def pause_writing(self) -> None:
        """Stop reading from the other side."""
        self.full = True
        self.pipe.other(self).settle()

    def resume_writing(self) -> None:
        """Resume reading from the other side."""
        self.full = False
        self.pipe.other(self).settle()

    def settle(self) -> None:
        """Start or stop reading according to the state of the link and the other side."""
        other = self.pipe.other(self)
        reading = not (self.pipe.state.hole or other.full or other.queued_bytes > MAX_QUEUED_BYTES)
        if self.transport is None or self.transport.is_closing() or reading == self.reading:
            return
        self.reading = reading
        if reading:
            self.transport.resume_reading()
        else:
            self.transport.pause_reading()

    def enqueue(self, data: bytes | None, at: float) -> None:
        """Queue data that arrive at the time ``at``."""
        self.queue.append((at, data))
        self.queued_bytes += len(data or b"")
        self.pump()

    def pump(self) -> None:
        """Write what has arrived by now, and schedule the rest."""
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
            self.queued_bytes -= len(data or b"")
            self.write(data)
        self.pipe.other(self).settle()

    def write(self, data: bytes | None) -> None:
        """Write data or, for None, the end of the stream."""
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
        """Close the connection."""
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
    """A connection between a client and a server."""

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
        """Connect both sides."""
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self.server, sock=self.server.raw)
        await loop.connect_accepted_socket(lambda: self.client, self.client.raw)
        self.state_changed()

    def other(self, side: Side) -> Side:
        """Return the other side."""
        return self.server if side is self.client else self.client

    def carry(self, origin: Side, data: bytes | None) -> None:
        """Pass data from one side to the other."""
        goal = self.other(origin)
        if self.state.reset:
            self.close(reset=True)
        elif goal.transport is None or goal.queue or self.state.hole or self.state.delay:
            goal.enqueue(data, asyncio.get_running_loop().time() + self.state.delay)
        else:
            goal.write(data)

    def lost(self, side: Side, *, reset: bool) -> None:
        """Handle the loss of one side: the other gets what is on its way, and is then closed."""
        other = self.other(side)
        if other.queue and not reset:
            other.enqueue(None, other.queue[-1][0])
            side.ended = True
        else:
            self.close(reset=reset)

    def state_changed(self) -> None:
        """Apply a change of the link's state."""
        for side in (self.client, self.server):
            side.settle()
            side.pump()

    def close(self, *, reset: bool = False) -> None:
        """Close both sides."""
        if self._over:
            return
        self._over = True
        self.client.close(reset=reset)
        self.server.close(reset=reset)
        self._on_end(self)
