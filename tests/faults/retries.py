"""Send requests to a system with faults; transient errors are retried."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from sluice.contracts.common.problems import NotAvailable
from tests.waiting import wait_for_condition

Result = TypeVar("Result")
Ask = Callable[[], Awaitable[httpx.Response]]

#: Seconds to retry while other faults last, on a machine with other work.
RETRY_SECONDS = 180.0
#: Seconds between two attempts.
POLL_SECONDS = 0.2
#: Statuses of a service that cannot reach others.
TRANSIENT_STATUSES = {502, 503, 504}
#: Number of consecutive refusals that are required.
_TIMES = 8
#: Seconds for which a process may be frozen during an answer.
FREEZE_SECONDS = 10.0


class SystemViolation(Exception):
    """The system did something that it must not do."""


class FaultTargetMissing(Exception):
    """The target of the fault did not exist."""


async def wait_for(
    condition: Callable[[], Awaitable[bool]], seconds: float = RETRY_SECONDS
) -> bool:
    """Wait for a condition, and return whether it became true in time."""
    return await wait_for_condition(condition, seconds=seconds, period=POLL_SECONDS)


async def retry(call: Callable[[], Awaitable[Result]], seconds: float = RETRY_SECONDS) -> Result:
    """Repeat a call until the service is available; raise ``ServiceError`` for any other error."""
    try:
        return await repeat_call(call, (NotAvailable,), seconds=seconds)
    except NotAvailable as error:
        raise SystemViolation(f"no answer within {seconds:g} s: {error.detail}") from error


async def repeat_call(
    call: Callable[[], Awaitable[Result]],
    transient_errors: tuple[type[Exception], ...],
    *,
    seconds: float = RETRY_SECONDS,
    count_repeat: Callable[[], None] = lambda: None,
) -> Result:
    """Repeat a call after each transient error; after ``seconds``, raise this error."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except transient_errors:
            if time.monotonic() > deadline:
                raise
        count_repeat()
        await asyncio.sleep(POLL_SECONDS)


async def wait_for_answer(
    send: Ask,
    is_expected: Callable[[httpx.Response], bool],
    what: str,
    *,
    seconds: float = RETRY_SECONDS,
) -> httpx.Response:
    """Return the first ``is_expected`` answer.

    Raise ``SystemViolation`` if there is none within ``seconds``, and for a 500 at once.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            response = await send()
            last = f"{response.status_code} {response.text[:200]}"
            if is_expected(response):
                return response
            if response.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
                raise SystemViolation(f"{what}: {last}")
        except httpx.TransportError as error:
            last = repr(error)
        if time.monotonic() > deadline:
            raise SystemViolation(f"{what}: not within {seconds:g} s; the last answer was {last}")
        await asyncio.sleep(POLL_SECONDS)


async def require_refusal(send: Ask, what: str, *, within: float) -> None:
    """Require that a request is refused (401) from ``within`` seconds on, or raise
    ``SystemViolation``.
    """
    began, times = time.monotonic(), 0
    while times < _TIMES:
        seconds = time.monotonic() - began
        try:
            response = await send()
            status, message = response.status_code, response.text[:200]
        except httpx.TransportError as error:
            status, message = httpx.codes.SERVICE_UNAVAILABLE, repr(error)
        refused = status == httpx.codes.UNAUTHORIZED
        times = times + 1 if refused else 0
        late = seconds > (RETRY_SECONDS if status in TRANSIENT_STATUSES else within)
        if (not refused and late) or status == httpx.codes.INTERNAL_SERVER_ERROR:
            raise SystemViolation(
                f"{what}: {status} {message}, {seconds:.1f} s after the revocation"
            )
        await asyncio.sleep(POLL_SECONDS)
