"""Answers that are sent while they are made: never whole in memory, and given up when nobody reads
them any more.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol
from urllib.parse import quote

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

#: What is given out was written by anybody's tools: no browser may take it for a page of ours, nor
#: guess at what it is.
FOREIGN_CONTENT = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class Body(Protocol):
    """What an asynchronous generator of bytes is, and others may be."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...


class Streamed(StreamingResponse):
    """``body`` is closed in any case: at its end, when the reader goes away, and where nothing of
    it was asked for.
    """

    def __init__(self, body: Body, *, status: int = 200, headers: Mapping[str, str]) -> None:
        super().__init__(body, status_code=status, headers=dict(headers), media_type=None)
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._body.aclose()


def attachment(name: str) -> str:
    """``Content-Disposition`` (RFC 6266) of something to be saved under ``name``, whatever is in
    it.
    """
    plain = "".join(
        letter if " " <= letter <= "~" and letter not in '"\\%' else "_" for letter in name
    )
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
