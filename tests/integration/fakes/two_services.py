"""What all conformance tests share: requests to applications, and the errors that are compared."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import httpx

from sluice.contracts.common.problems import ServiceError
from tests.callers import allow_everybody

FAKE, REAL = "fake", "real"


def make_http_client(app: Any, name: str) -> httpx.AsyncClient:
    """Return a client of an application in this process, which may do everything."""
    transport = httpx.ASGITransport(allow_everybody(app), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=f"http://{name}")


@dataclass(frozen=True)
class Refusal:
    """What programs see of an error."""

    status: int
    slug: str


NOT_FOUND, CONFLICT, UNPROCESSABLE = (
    Refusal(404, "not-found"),
    Refusal(409, "conflict"),
    Refusal(422, "unprocessable"),
)


async def get_refusal(call: Awaitable[object]) -> Refusal:
    """Return the error of a call that must fail."""
    error = await find_refusal(call)
    assert error is not None, "the call succeeded"
    return error


async def find_refusal(call: Awaitable[object]) -> Refusal | None:
    """Return the error of a call, or None if the call succeeds."""
    try:
        await call
    except ServiceError as error:
        return Refusal(error.status, error.slug)
    return None
