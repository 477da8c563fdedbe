"""Start of a component whose database or broker may not be available yet."""

import asyncio
import re
from collections.abc import Callable

import structlog

from sluice.contracts.common.problems import NotAvailable
from sluice.scheduling.backoff import pause_after
from sluice.servicekit.database import CANNOT_CONNECT
from sluice.servicekit.running.lifecycle import Component
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.text.os_errors import reason_of

log = structlog.get_logger(__name__)

#: Seconds between two attempts: the first pause, which doubles up to the longest.
FIRST_PAUSE, MAX_PAUSE = 0.1, 2.0

#: The memory address in a library's message, which differs each time.
_PLACE_IN_MEMORY = re.compile(r" at 0x[0-9a-f]+")

#: The errors of a component whose dependencies are not available yet.
NOT_YET = (NotAvailable, TransportUnavailable, *CANNOT_CONNECT)


async def start_when_possible(
    component: Component, *, what: str, tell: Callable[[str, str], None]
) -> None:
    """Start a component and retry while its dependencies are unavailable.

    Args:
        component: The component.
        what: The name of what the component needs.
        tell: Called with ``what`` and the reason at each failed attempt.
    """
    failures = 0
    logged: set[str] = set()
    while True:
        try:
            return await component.start()
        except NOT_YET as error:
            reason = _PLACE_IN_MEMORY.sub("", reason_of(error))
            tell(what, reason)
            if reason not in logged:
                logged.add(reason)
                log.warning("service.waiting", what=what, reason=reason)
        failures += 1
        await asyncio.sleep(pause_after(failures, first=FIRST_PAUSE, max_pause=MAX_PAUSE))
