"""Streaming of files from the DMS, or of responses of another service, never whole in memory."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import httpx

from sluice.contracts.common.problems import NotAvailable

#: Headers of requests and responses that are needed for ranges, conditions and downloads.
REQUEST_HEADERS = ("If-None-Match", "If-Range", "Range")
RESPONSE_HEADERS = (
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
    """A response body, of which ``begin`` was already read. The caller must close it."""

    answer: httpx.Response
    rest: AsyncIterator[bytes]
    begin: bytes = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.begin:
            yield self.begin
        async for piece in self.rest:
            yield piece

    async def aclose(self) -> None:
        """Close the response."""
        await self.answer.aclose()


@dataclass(frozen=True, slots=True)
class StreamedContent:
    """A response whose body is streamed."""

    status: int
    headers: dict[str, str]
    body: StreamedBody


async def stream_content(
    http: httpx.AsyncClient,
    path: str,
    *,
    method: str = "GET",
    query: Query | None = None,
    request_headers: Mapping[str, str] | None = None,
    service: str = "dms",
) -> StreamedContent:
    """Request a response to stream; error responses are returned, too.

    Args:
        http: A client of the service.
        path: The path of the request.
        method: The method of the request.
        query: The query of the request.
        request_headers: The headers of the original request. Those in ``REQUEST_HEADERS`` are
            forwarded.
        service: The name of the service, for the error message.

    Raises:
        NotAvailable: The service does not answer.
    """
    forwarded_headers = {
        name: value
        for name in REQUEST_HEADERS
        if (value := (request_headers or {}).get(name)) is not None
    }
    request = http.build_request(
        method,
        path,
        params=dict(query or {}),
        headers={**forwarded_headers, "Accept-Encoding": "identity"},
    )
    try:
        answer = await http.send(request, stream=True)
    except httpx.TransportError as error:
        raise NotAvailable(
            f"the service {service} does not answer: {error or type(error).__name__}",
            service=service,
        ) from error
    headers = {name: answer.headers[name] for name in RESPONSE_HEADERS if name in answer.headers}
    return StreamedContent(answer.status_code, headers, StreamedBody(answer, answer.aiter_raw()))
