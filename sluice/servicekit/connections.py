"""Connections that take their time: uvicorn waits for a request's head, and for a reader of its
answers, without an end.

A new connection above the limit takes the place of another one. Two kinds of connections can give
way: those that wait for a request or for the rest of one, and those whose client has not yet read
an answer. The kind with more connections does, and of it the oldest connection of the address that
has most. So nobody is kept out by an address that sends half of many requests, that leaves many
connections idle, or that reads many answers slowly.
"""

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sluice.servicekit.refused_requests import Refusals

#: Seconds from a connection's start, or the first byte of a further request, until the head of the
#: request is there.
HEAD_SECONDS = 10.0
#: Seconds for which a connection stays open without a request. Much longer than clients keep theirs
#: (httpx: 5 s): a client that sends a request just when the server closes gets no answer.
IDLE_SECONDS = 20
#: Bytes of a request's head.
MOST_HEAD = 64 * 1024
#: Seconds in which somebody takes a piece of an answer.
READ_SECONDS = 60.0


class PatientProtocol(HttpToolsProtocol):
    """Ends what takes too long, and what is one connection too many."""

    head_seconds = HEAD_SECONDS
    read_seconds = READ_SECONDS

    def __init__(self, *uvicorns: Any, most: int, refusals: Refusals, **by_name: Any) -> None:
        """``most``: connections at the same time. uvicorn's own limit refuses every request once
        there are as many, also on those that were there before. ``refusals``: told of each."""
        super().__init__(*uvicorns, **by_name)
        self._most = most
        self._refusals = refusals

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the base class
        super().connection_made(transport)
        self._waits_for_head = True
        #: Since when it waits for a request or for the rest of one; None: it answers one.
        self._waiting_since: float | None = self.loop.time()
        #: Since when its client reads an answer more slowly than it is sent; None: it does not.
        self._unread_since: float | None = None
        # Whatever the system does not take at once counts as unread, and is given up after
        # ``read_seconds``, also where the connection is about to be closed.
        transport.set_write_buffer_limits(high=0)
        self._heads = 0
        self._head_bytes = 0
        self._reading: asyncio.TimerHandle | None = None
        self._head: asyncio.TimerHandle | None = self.loop.call_later(
            self.head_seconds, self._no_head
        )
        if len(self.connections) > self._most:
            self._first_to_give_way()._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop("_head")
        self._stop("_reading")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
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
            if self._head_bytes > MOST_HEAD:
                message = f"a request's head has at most {MOST_HEAD} bytes"
                self._refuse("431 Request Header Fields Too Large", message)

    def on_headers_complete(self) -> None:
        self._waits_for_head = False
        self._heads += 1
        self._head_bytes = 0
        self._stop("_head")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._waits_for_head = True
        self._waiting_since = self.loop.time() if self._answered else None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unread_since = None
        if self._waits_for_head:
            self._waiting_since = self.loop.time()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread_since is None and not self._answered:
            self._unread_since = self.loop.time()
        if self._reading is None:
            self._reading = self.loop.call_later(self.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop("_reading")
        super().resume_writing()

    def _first_to_give_way(self) -> "PatientProtocol":
        """Return the connection that makes room for a new one."""
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

    def _make_room(self) -> None:
        self._waiting_since = self._unread_since = None
        if (
            self._answered and self._waits_for_head and self._head is None
        ):  # idle: nothing of a request has come
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
        """By hand: there is no request yet that an application could answer. The answer to one
        before it is not spoiled."""
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
