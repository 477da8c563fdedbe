"""Timeouts and a connection limit for uvicorn, which has no timeout for slow clients.

A new connection above the limit replaces another one. Two kinds of connections can be closed: those
that wait for a request, or for the rest of one, and those whose client is slow to read a response.
Of the kind with more connections, the oldest one of the address with most connections is closed. So
no address can lock out others with half-sent requests, idle connections or slow reading.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sluice.servicekit.web.refused_requests import Refusals

#: Seconds from the start of a connection, or from the first byte of a further request, until the
#: head of the request is complete.
HEAD_SECONDS = 10.0
#: Seconds for which an idle connection stays open. Clients close theirs much earlier (httpx: 5 s),
#: because a request that is sent just when the server closes gets no response.
IDLE_SECONDS = 20
#: The maximum size of a request's head in bytes.
MAX_HEAD = 64 * 1024
#: Seconds within which a client must read a piece of a response.
READ_SECONDS = 60.0


class PatientProtocol(HttpToolsProtocol):
    """HTTP protocol of uvicorn that closes slow connections and surplus ones."""

    head_seconds = HEAD_SECONDS
    read_seconds = READ_SECONDS

    def __init__(self, *uvicorns: Any, limit: int, refusals: Refusals, **by_name: Any) -> None:
        """Set up the protocol of one connection.

        uvicorn's own limit refuses every request above it, also on connections that were there
        before.

        Args:
            *uvicorns: Arguments of the base class.
            limit: The maximum number of connections at the same time.
            refusals: Counts refused requests.
            **by_name: Keyword arguments of the base class.
        """
        super().__init__(*uvicorns, **by_name)
        self._limit = limit
        self._refusals = refusals

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the base class
        """Start the timeout for the head and, above the limit, close another connection."""
        super().connection_made(transport)
        self._waits_for_head = True
        #: The time since which it waits for a request or the rest of one. None while it answers a
        #: request.
        self._waiting_since: float | None = self.loop.time()
        #: The time since which its client reads a response too slowly, if it does.
        self._unread_since: float | None = None
        # Data that the kernel does not take at once counts as unread. It is dropped after
        # ``read_seconds``, also when the connection is about to be closed.
        transport.set_write_buffer_limits(high=0)
        self._heads = 0
        self._head_bytes = 0
        self._reading: asyncio.TimerHandle | None = None
        self._head: asyncio.TimerHandle | None = self.loop.call_later(
            self.head_seconds, self._no_head
        )
        if len(self.connections) > self._limit:
            self._first_to_give_way()._close_for_another()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts."""
        self._stop("_head")
        self._stop("_reading")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data and limit the size and the duration of a request's head."""
        if self.transport.is_closing():
            return
        waited, heads = self._waits_for_head, self._heads
        if waited and self._head is None:
            if self._answered:
                self._waiting_since = self.loop.time()
            self._head = self.loop.call_later(self.head_seconds, self._no_head)
        super().data_received(data)
        if waited and self._heads == heads:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD:
                message = f"a request's head has at most {MAX_HEAD} bytes"
                self._refuse("431 Request Header Fields Too Large", message)

    def on_headers_complete(self) -> None:
        """Note that the head of a request is complete."""
        self._waits_for_head = False
        self._heads += 1
        self._head_bytes = 0
        self._stop("_head")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that a request is complete and that the next head may come."""
        super().on_message_complete()
        self._waits_for_head = True
        self._waiting_since = self.loop.time() if self._answered else None

    def on_response_complete(self) -> None:
        """Note that the response has been read."""
        super().on_response_complete()
        self._unread_since = None
        if self._waits_for_head:
            self._waiting_since = self.loop.time()

    def pause_writing(self) -> None:
        """Start the timeout for a client that does not read."""
        super().pause_writing()
        if self._unread_since is None and not self._answered:
            self._unread_since = self.loop.time()
        if self._reading is None:
            self._reading = self.loop.call_later(self.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timeout for a client that does not read."""
        self._stop("_reading")
        super().resume_writing()

    def _first_to_give_way(self) -> "PatientProtocol":
        """Return the connection that is closed in favour of a new one."""
        waiting, unread = dict[PatientProtocol, float](), dict[PatientProtocol, float]()
        for each in self.connections:
            if not isinstance(each, PatientProtocol):
                continue
            if each._waiting_since is not None:
                waiting[each] = each._waiting_since
            elif each._unread_since is not None:
                unread[each] = each._unread_since
        since = max(waiting, unread, key=len)
        by_address = Counter(each._address for each in since)
        return max(since, key=lambda each: (by_address[each._address], -since[each]))

    @property
    def _answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def _address(self) -> str:
        return self.client[0] if self.client is not None else ""

    def _close_for_another(self) -> None:
        self._waiting_since = self._unread_since = None
        # Idle: no byte of a request has arrived.
        if self._answered and self._waits_for_head and self._head is None:
            self.transport.close()
            return
        self._refuse("503 Service Unavailable", "too many connections at once; try again")

    def _no_head(self) -> None:
        self._head = None
        if self._head_bytes:
            self._refuse(
                "408 Request Timeout",
                f"the head of the request did not arrive within {self.head_seconds:g} s",
            )
        else:
            self.transport.close()

    def _refuse(self, status: str, detail: str) -> None:
        """Refuse an incomplete request with a hand-written response.

        The application cannot answer, because there is no request yet. If an earlier response is
        still being sent, the connection is only closed.
        """
        number, _, title = status.partition(" ")
        self._refusals.add(int(number), detail, peer=self._address)
        if not self._answered:
            self.transport.abort()
            return
        problem = (
            f'{{"type":"about:blank","title":"{title}","status":{number},"detail":"{detail}"}}'
        )
        body = problem.encode()
        headers = (
            f"content-type: application/problem+json\r\ncontent-length: {len(body)}\r\nconnection:"
            " close"
        )
        self.transport.write(f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body)
        self.transport.close()

    def _stop(self, timer: str) -> None:
        running: Any = getattr(self, timer, None)
        if running is not None:
            running.cancel()
            setattr(self, timer, None)
