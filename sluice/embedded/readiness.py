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
#: Under which name it says why none of its pilots will start, where that is so.
REFUSED = "pilots_refused"
#: Seconds for one answer, for pilots to start, and between two looks at them.
_ANSWER, _START, _LOOK = 10.0, 20.0, 0.1


class NoPilotStarts(OSError):
    """None of a system's pilots will start: nothing that waits for it will ever end."""


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

    @property
    def refusal(self) -> str | None:
        """Why no job will ever run; None where one may."""
        refused = {name: str(reason) for name, reason in self.parts.get(REFUSED, {}).items()}
        reasons = dict.fromkeys(refused.values())
        return f"no pilot starts: {', '.join(refused)}: {'; '.join(reasons)}" if refused else None


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


def require_pilots(url: str) -> None:
    """Wait until a pilot of an embedded system has started; one without pilots needs none.

    Raises:
        NoPilotStarts: none will; what is missing.
        httpx.HTTPError: the system does not answer.
    """
    deadline = time.monotonic() + _START
    while True:
        found = read_readiness(url)
        if found.refusal is not None:
            raise NoPilotStarts(found.refusal)
        if not found.pilots or OK in found.pilots.values() or time.monotonic() > deadline:
            return
        time.sleep(_LOOK)


def read_refusal(url: str) -> str | None:
    """Return why no job at ``url`` will ever run; None where one may, or nobody can tell."""
    try:
        return read_readiness(url).refusal
    except (httpx.HTTPError, OSError, ValueError):
        return None


def read_pilots_down(url: str) -> list[str]:
    """A sentence for each pilot of an embedded system that does not run; none where no such system
    answers at ``url``.
    """
    try:
        return read_readiness(url).pilots_down
    except (httpx.HTTPError, OSError, ValueError):
        return []
