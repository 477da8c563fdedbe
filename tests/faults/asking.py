"""Asks a system that is being broken: what passes is waited for, what is wrong is not."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx

from sluice.contracts.problems import NotAvailable

Result = TypeVar("Result")
Ask = Callable[[], Awaitable[httpx.Response]]

#: Seconds for which whatever else is broken at that moment is waited for.
PATIENCE = 60.0
#: Seconds between two looks.
PERIOD = 0.2
#: What a service answers that others keep from answering.
PASSING = {502, 503, 504}
#: How often in a row somebody is to be refused.
_TIMES = 8
#: Seconds for which a process may stand still in the middle of an answer.
FROZEN = 10.0


class WentWrong(Exception):
    """The system did what it must not do."""


class NothingToStrike(Exception):
    """What the fault is meant for was not there."""


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = PATIENCE) -> bool:
    """Whether it came to hold by then."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(PERIOD)
    return True


async def insist(call: Callable[[], Awaitable[Result]], seconds: float = PATIENCE) -> Result:
    """Until there is an answer. Raises ``ServiceError`` for one that is none of its wishes."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except NotAvailable as error:
            if time.monotonic() > deadline:
                raise WentWrong(f"no answer within {seconds:g} s: {error.detail}") from error
            await asyncio.sleep(PERIOD)


async def answer(
    ask: Ask, good: Callable[[httpx.Response], bool], what: str, *, seconds: float = PATIENCE
) -> httpx.Response:
    """The first one that is ``good``. Raises ``WentWrong`` for none within ``seconds``, and for a
    500 at once."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            given = await ask()
            last = f"{given.status_code} {given.text[:200]}"
            if good(given):
                return given
            if given.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
                raise WentWrong(f"{what}: {last}")
        except httpx.TransportError as error:
            last = repr(error)
        if time.monotonic() > deadline:
            raise WentWrong(f"{what}: not within {seconds:g} s; the last answer was {last}")
        await asyncio.sleep(PERIOD)


async def refused(ask: Ask, what: str, *, within: float) -> None:
    """It is refused (401), and nothing else any more from ``within`` seconds on. Raises
    ``WentWrong``."""
    began, times = time.monotonic(), 0
    while times < _TIMES:
        asked = time.monotonic() - began
        try:
            given = await ask()
            status, said = given.status_code, given.text[:200]
        except httpx.TransportError as error:
            status, said = httpx.codes.SERVICE_UNAVAILABLE, repr(error)
        refused = status == httpx.codes.UNAUTHORIZED
        times = times + 1 if refused else 0
        late = asked > (PATIENCE if status in PASSING else within)
        if (not refused and late) or status == httpx.codes.INTERNAL_SERVER_ERROR:
            raise WentWrong(f"{what}: {status} {said}, {asked:.1f} s after that was over")
        await asyncio.sleep(PERIOD)
