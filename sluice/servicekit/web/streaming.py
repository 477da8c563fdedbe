"""Streaming responses, which are never complete in memory and end when the client disconnects."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol
from urllib.parse import quote

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

#: Headers for content that tools of any user wrote. Browsers must not treat it as a page of this
#: system, nor guess its type.
FOREIGN_CONTENT = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Body(Protocol):
    """An asynchronous generator of bytes, or an object with the same methods."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None:
        """Release the resources of the body."""


class Streamed(StreamingResponse):
    """Response that closes its ``body`` in any case, also if the client disconnects."""

    def __init__(self, body: Body, *, status: int = 200, headers: Mapping[str, str]) -> None:
        super().__init__(body, status_code=status, headers=dict(headers), media_type=None)
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, and close its body."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._body.aclose()


def attachment(name: str) -> str:
    """Return a ``Content-Disposition`` header (RFC 6266) for a download with any file name."""
    plain = "".join(
        letter if " " <= letter <= "~" and letter not in '"\\%' else "_" for letter in name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
