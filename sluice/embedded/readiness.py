"""What a running system says of its parts, the services and the pilots."""

import time
from dataclasses import dataclass
from typing import Any

import httpx

from sluice.http_clients import send_request

#: How a pilot does; other texts say why it does not run.
OK, STARTING = "ok", "starting"
#: Where the system says it, and under which name the pilots stand among the services.
READY_PATH, PILOTS = "/system/readyz", "pilots"
#: Seconds for one answer, for pilots to start, and between two looks at them.
_ANSWER, _START, _LOOK = 10.0, 20.0, 0.1


@dataclass(frozen=True, slots=True)
class Readiness:
    """``parts``: what each says, by its name. ``ready``: are all?"""

    ready: bool
    parts: dict[str, Any]

    @property
    def pilots(self) -> dict[str, str]:
        """None of them where a system of the release before answers."""
        return dict(self.parts.get(PILOTS, {}))

    @property
    def pilots_down(self) -> list[str]:
        """A sentence for each."""
        return [
            f"pilot {name} is {state}"
            for name, state in self.pilots.items()
            if state not in {OK, STARTING}
        ]


def read_readiness(url: str) -> Readiness:
    """Of the system at ``url``. Raises ``httpx.HTTPError``."""
    answer = send_request("GET", f"{url}{READY_PATH}", timeout=_ANSWER)
    return Readiness(answer.is_success, answer.json())


def wait_for_pilots(url: str) -> Readiness:
    """Until each of them has started or failed to. Raises ``httpx.HTTPError``."""
    deadline = time.monotonic() + _START
    found = read_readiness(url)
    while STARTING in found.pilots.values() and time.monotonic() < deadline:
        time.sleep(_LOOK)
        found = read_readiness(url)
    return found


def read_pilots_down(url: str) -> list[str]:
    """A sentence for each pilot of an embedded system that does not run; none where no such system
    answers at ``url``."""
    try:
        return read_readiness(url).pilots_down
    except (httpx.HTTPError, OSError, ValueError):
        return []
