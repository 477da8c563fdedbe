"""Forwards a request to the service that answers it, so that people need one address."""

from dataclasses import dataclass
from urllib.parse import quote

import httpx

from sluice.contracts.problems import NotAvailable, Unprocessable
from sluice.visible_text import quoted

#: What stands in a query as it is.
_IN_QUERIES = "%/?:@!$&'()*+,;=~[]"


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """``path`` is decoded, ``query`` (of Latin-1) as it came; ``content_type`` empty where
    there is no body."""

    method: str
    path: str
    query: str
    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class ForwardedResponse:
    status: int
    content: bytes
    content_type: str


async def forward_request(
    http: httpx.AsyncClient, service: str, request: ForwardedRequest
) -> ForwardedResponse:
    """Precondition: the path is one of those declared. Effect: that of the service asked. Messages:
    none of ours. Raises ``NotAvailable`` where it does not answer, ``Unprocessable`` for a path
    that would lead elsewhere; its own errors come back as its answer."""
    headers = {"content-type": request.content_type} if request.content else {}
    try:
        answer = await http.request(
            request.method, _url(request), content=request.content, headers=headers
        )
    except httpx.TransportError as error:
        raise NotAvailable(
            f"the service {service} does not answer: {error or type(error).__name__}",
            service=service,
        ) from error
    return ForwardedResponse(
        answer.status_code, answer.content, answer.headers.get("content-type", "application/json")
    )


def _url(request: ForwardedRequest) -> httpx.URL:
    """Names in it are whatever somebody has sent, control characters and escapes among it."""
    for part in request.path.split("/"):
        if part in {".", ".."}:
            raise Unprocessable(f"nothing can have the name {quoted(part)}")
    query = quote(request.query.encode("latin-1"), safe=_IN_QUERIES)
    return httpx.URL(path=quote(request.path), query=query.encode())
