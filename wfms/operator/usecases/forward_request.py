"""Forwards a request to the service that answers it, so that people need one address."""

from dataclasses import dataclass

import httpx

from sluice.contracts.problems import NotAvailable


@dataclass(frozen=True, slots=True)
class ForwardedRequest:
    """``path`` and ``query`` as they came; ``content_type`` empty where there is no body."""

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
    none of ours. Raises ``NotAvailable`` where it does not answer; its own errors come back as its
    answer."""
    url = httpx.URL(path=request.path, query=request.query.encode())
    headers = {"content-type": request.content_type} if request.content else {}
    try:
        answer = await http.request(request.method, url, content=request.content, headers=headers)
    except httpx.TransportError as error:
        raise NotAvailable(
            f"the service {service} does not answer: {error or type(error).__name__}",
            service=service,
        ) from error
    return ForwardedResponse(
        answer.status_code, answer.content, answer.headers.get("content-type", "application/json")
    )
