"""Starting a component whose database or broker may not be there yet: tried until it goes, saying
what it waits for.
"""

import asyncio
import re
from collections.abc import Callable

import structlog

from sluice.backoff import pause_after
from sluice.contracts.problems import NotAvailable
from sluice.servicekit.database import CANNOT_CONNECT
from sluice.servicekit.lifecycle import Component
from sluice.servicekit.transport.base import TransportUnavailable

log = structlog.get_logger(__name__)

#: Seconds between two tries: the first pause, doubled each time up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0

#: What libraries say of objects they did not expect; it differs each time.
_PLACE_IN_MEMORY = re.compile(r" at 0x[0-9a-f]+")

#: What a component raises while what it stands on is missing.
NOT_YET = (NotAvailable, TransportUnavailable, *CANNOT_CONNECT)


async def start_when_possible(
    component: Component, *, what: str, tell: Callable[[str, str], None]
) -> None:
    """``tell`` is called with ``what`` and the reason at each failed try. Raises what is no matter
    of waiting.
    """
    failures = 0
    logged: set[str] = set()
    while True:
        try:
            return await component.start()
        except NOT_YET as error:
            reason = _PLACE_IN_MEMORY.sub("", str(error)) or type(error).__name__
            tell(what, reason)
            if reason not in logged:
                logged.add(reason)
                log.warning("service.waiting", what=what, reason=reason)
        failures += 1
        await asyncio.sleep(pause_after(failures, first=FIRST_PAUSE, longest=LONGEST_PAUSE))
