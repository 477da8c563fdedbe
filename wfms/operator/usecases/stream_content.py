"""Streams what is in files from the DMS, or what another service has, to whoever asks: never whole
in memory.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import httpx

from sluice.contracts.problems import NotAvailable

#: Of the request and of the answer: what ranges, conditions and downloads need.
ASKED = ("If-None-Match", "If-Range", "Range")
ANSWERED = (
    "Accept-Ranges",
    "Cache-Control",
    "Content-Disposition",
    "Content-Length",
    "Content-Range",
    "Content-Type",
    "ETag",
)

Query = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class StreamedBody:
    """What comes behind ``begin``, which was read already. To be closed, whether or not it was
    read.
    """

    answer: httpx.Response
    rest: AsyncIterator[bytes]
    begin: bytes = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.begin:
            yield self.begin
        async for piece in self.rest:
            yield piece

    async def aclose(self) -> None:
        await self.answer.aclose()


@dataclass(frozen=True, slots=True)
class StreamedContent:
    status: int
    headers: dict[str, str]
    body: StreamedBody


async def stream_content(
    http: httpx.AsyncClient,
    path: str,
    *,
    method: str = "GET",
    query: Query | None = None,
    asked: Mapping[str, str] | None = None,
    service: str = "dms",
) -> StreamedContent:
    """Precondition: ``http`` leads to the ``service`` and reads answers as they come. Effect: none.
    ``asked``: headers of the request. Its errors come back as its answer. Raises ``NotAvailable``
    where it does not answer.
    """
    kept = {name: value for name in ASKED if (value := (asked or {}).get(name)) is not None}
    request = http.build_request(
        method, path, params=dict(query or {}), headers={**kept, "Accept-Encoding": "identity"}
    )
    try:
        answer = await http.send(request, stream=True)
    except httpx.TransportError as error:
        raise NotAvailable(
            f"the service {service} does not answer: {error or type(error).__name__}",
            service=service,
        ) from error
    headers = {name: answer.headers[name] for name in ANSWERED if name in answer.headers}
    return StreamedContent(answer.status_code, headers, StreamedBody(answer, answer.aiter_raw()))
