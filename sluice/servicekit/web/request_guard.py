"""Checks of requests before any application sees them: host, origin, size and duration.

The guard stands at the network, so that services of one process call each other without it.
"""

import asyncio
import re
import socket
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sluice.contracts.common.problems import PROBLEM_TYPE, Problem
from sluice.servicekit.web.csrf import CrossSiteRequest, require_same_site
from sluice.servicekit.web.http import problem_response
from sluice.servicekit.web.refused_requests import Refusals
from sluice.servicekit.web.request_bodies import BodyMemory, NoMemoryForBody, RequestBody
from sluice.servicekit.web.request_limits import Limits
from sluice.text.visible_text import quoted

#: Names of this machine. Who sends to them is on it.
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
#: Addresses that mean all interfaces and are not names to send to.
_ANY = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not listened on
#: A ``Host`` header: a name or an IPv4 address, or an IPv6 address in brackets, and a port.
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[\w.*-]+))(?::[0-9]{0,5})?", re.ASCII)
#: A parsed value takes up to 200 bytes; the shortest, ``[],``, takes three bytes in a body.
BYTES_A_VALUE = 16
#: Seconds for which the rest of a refused body is read and dropped, so that the client reads the
#: response.
LINGER = 2.0


class _RequestRefused(Exception):
    def __init__(
        self, status: int, slug: str, title: str, detail: str, *, read: bool = False
    ) -> None:
        """Make the error. ``read`` means that the whole body has already been read."""
        super().__init__(detail)
        self.read = read
        self.problem = Problem(type=PROBLEM_TYPE + slug, title=title, status=status, detail=detail)


class _ClientDisconnected(Exception):
    """The client disconnected before the request was complete."""


class Guard:
    """ASGI middleware that refuses unacceptable requests."""

    def __init__(
        self, app: ASGIApp, limits: Limits, *, addresses: Collection[str], refusals: Refusals
    ) -> None:
        """Set up the guard.

        Args:
            app: The application.
            limits: The limits on requests.
            addresses: The addresses that the server listens on.
            refusals: Counts refused requests.
        """
        self._app = app
        self._limits = limits
        self._names = LOOPBACK | limits.hosts | ({socket.gethostname().lower(), *addresses} - _ANY)
        self._refusals = refusals
        self._body_memory = BodyMemory(limits.body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check and read a request, then pass it on, or refuse it."""
        if scope["type"] != "http":  # no application here answers anything else
            return
        headers = dict[bytes, list[bytes]]()
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        content, body = bytearray(), RequestBody(self._limits.body_at(scope["path"]))
        try:
            self._check_host(headers.get(b"host", []), scope)
            _check_origin(scope)
            if _has_body(headers):
                await self._read(
                    receive, content, body, announced_lengths=headers.get(b"content-length", [])
                )
                receive, send = (
                    _replay(bytes(content), receive),
                    self._body_memory.until_answered(body, send),
                )
                content.clear()
            await self._app(scope, receive, send)
        except _RequestRefused as refusal:
            content.clear()
            self._body_memory.leave(body)
            self._refusals.add(
                refusal.problem.status,
                refusal.problem.detail,
                peer=_peer(scope),
                path=scope["path"],
            )
            if not refusal.read:
                await _discard_body(receive)
            response = problem_response(refusal.problem)
            response.headers["connection"] = "close"
            await response(scope, receive, send)
        except _ClientDisconnected:
            pass
        finally:
            self._body_memory.leave(body)

    def _check_host(self, host_headers: list[bytes], scope: Scope) -> None:
        """Check that the request names this service as its host.

        This prevents DNS rebinding: a page of another site under a name that leads here. The
        address of the connection itself is accepted, too.
        """
        host = parse_host(host_headers[0].decode("latin-1")) if len(host_headers) == 1 else ""
        if host in self._names or "*" in self._names or (host and host == _address(scope)):
            return
        what = (
            f"{quoted(host)} is not a name of this service"
            if host
            else "the request has no valid Host header"
        )
        raise _RequestRefused(
            421,
            "wrong-host",
            "Sent to another host",
            f"{what}: it accepts {', '.join(sorted(self._names))} and the address at which it is"
            f" reached; add further names to {self._limits.settings}HOSTS",
        )

    async def _read(
        self,
        receive: Receive,
        content: bytearray,
        body: RequestBody,
        *,
        announced_lengths: list[bytes],
    ) -> None:
        """Read the whole body before the application sees the request.

        A slow client keeps no thread busy, and an oversized body is never stored.
        """
        if announced_lengths and (
            not announced_lengths[0].isdigit() or int(announced_lengths[0]) > body.limit
        ):
            raise self._too_large(body)
        try:
            async with asyncio.timeout(self._limits.body_seconds) as body.arriving:
                while await self._read_part(receive, content, body):
                    pass
        except (TimeoutError, NoMemoryForBody):
            raise self._refuse_for_memory() if body.dismissed else self._too_slow() from None
        finally:
            body.arriving = None
        if body.dismissed:
            raise self._refuse_for_memory()
        values = content.count(b",") + content.count(b"[") + content.count(b"{")
        if values > body.limit // BYTES_A_VALUE:
            raise self._too_large(body, values=True)

    async def _read_part(self, receive: Receive, content: bytearray, body: RequestBody) -> bool:
        """Read the next part of a body and return whether there is more.

        Raises:
            NoMemoryForBody: The body has to be dropped.
        """
        message = await receive()
        if message["type"] != "http.request":
            raise _ClientDisconnected
        content += message.get("body", b"")
        if len(content) > body.limit:
            raise self._too_large(body)
        self._body_memory.take(body, len(content))
        return bool(message.get("more_body", False))

    def _refuse_for_memory(self) -> _RequestRefused:
        return _RequestRefused(
            503,
            "not-available",
            "Temporarily unavailable",
            "too many large requests at once; try again",
        )

    def _too_slow(self) -> _RequestRefused:
        detail = (
            f"the body did not arrive within {self._limits.body_seconds:g} s"
            f" ({self._limits.settings}BODY_SECONDS)"
        )
        return _RequestRefused(408, "too-slow", "The request came too slowly", detail)

    def _too_large(self, body: RequestBody, *, values: bool = False) -> _RequestRefused:
        what = f"{body.limit // BYTES_A_VALUE} values" if values else f"{body.limit} bytes"
        setting = f"{self._limits.settings}LARGEST_BODY"
        sentence = (
            f"a request to this path has at most {what}"
            if body.limit < self._limits.body
            else f"a request has at most {what} ({setting}): send it in parts"
        )
        return _RequestRefused(413, "too-large", "Too large", sentence, read=values)


def _check_origin(scope: Scope) -> None:
    """Check that no page of another site sends a changing request."""
    try:
        require_same_site(scope["method"], Headers(scope=scope))
    except CrossSiteRequest as error:
        raise _RequestRefused(error.status, error.slug, error.title, error.detail) from None


def parse_host(header: str) -> str:
    """Return the name in a ``Host`` header, or an empty string if it is malformed.

    Source: RFC 9110, section 7.2.
    """
    match = _HOST.fullmatch(header.strip().lower())
    return "" if match is None else match["address"] or match["name"].rstrip(".")


def _address(scope: Scope) -> str:
    """Return the address that was connected to.

    A dual-stack server gives IPv4 addresses in their IPv6 form.
    """
    address: str = (scope.get("server") or ("",))[0]
    return address.lower().removeprefix("::ffff:")


def _peer(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def _has_body(headers: dict[bytes, list[bytes]]) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", [b"0"]) != [b"0"]


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the whole body and then the events of the connection."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


async def _discard_body(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER):
            while True:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
    except TimeoutError:
        return
