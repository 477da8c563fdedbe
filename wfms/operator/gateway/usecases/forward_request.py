"""Forwarding of a request to the service that answers it, so that people need one address."""

from dataclasses import dataclass
from urllib.parse import quote

import httpx

from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.text.visible_text import quoted

#: Characters that stay unescaped in a query.
_IN_QUERIES = "%/?:@!$&'()*+,;=~[]"
#: Timeouts in seconds. Counting the jobs of a large chain takes long.
_TIMEOUT = httpx.Timeout(30.0, read=60.0)


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """A request to forward.

    Attributes:
        path: The decoded path.
        query: The query as it was received, decoded as Latin-1.
        content_type: Empty if there is no body.
    """

    method: str
    path: str
    query: str
    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class ForwardedResponse:
    """The response of the service."""

    status: int
    content: bytes
    content_type: str


async def forward_request(
    http: httpx.AsyncClient, service: str, request: ForwardedRequest
) -> ForwardedResponse:
    """Forward a request to a service and return its response, error responses included.

    Raises:
        NotAvailable: The service does not answer.
        Unprocessable: The path has a part ``.`` or ``..``, which would lead elsewhere.
    """
    headers = {"content-type": request.content_type} if request.content else {}
    try:
        answer = await http.request(
            request.method,
            _build_url(request),
            content=request.content,
            headers=headers,
            timeout=_TIMEOUT,
        )
    except httpx.TransportError as error:
        raise NotAvailable(
            f"the service {service} does not answer: {error or type(error).__name__}",
            service=service,
        ) from error
    return ForwardedResponse(
        answer.status_code, answer.content, answer.headers.get("content-type", "application/json")
    )


def _build_url(request: ForwardedRequest) -> httpx.URL:
    """Return the escaped URL; names in the path may contain control characters and escapes."""
    for part in request.path.split("/"):
        if part in {".", ".."}:
            raise Unprocessable(f"{quoted(part)} is not a valid name")
    query = quote(request.query.encode("latin-1"), safe=_IN_QUERIES)
    return httpx.URL(path=quote(request.path), query=query.encode())
