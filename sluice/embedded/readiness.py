"""The readiness report of a running system: its services and pilots."""

import time
from dataclasses import dataclass
from typing import Any

import httpx

from sluice.network.http_clients import send_request

#: States of a pilot. Any other text says why it does not run.
OK, STARTING = "ok", "starting"
#: The path of the report, and the key of the pilots in it.
READY_PATH, PILOTS = "/system/readyz", "pilots"
#: The key under which the report says why no pilot will start.
PILOTS_REFUSED = "pilots_refused"
#: Seconds for one response, for pilots to start, and between two requests.
_ANSWER_TIMEOUT, _START_TIMEOUT, _POLL_PAUSE = 10.0, 20.0, 0.1


class NoPilotStarts(OSError):
    """None of a system's pilots will start, so that no job would ever end."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """The readiness report. ``parts`` has the report of each part by name."""

    ready: bool
    parts: dict[str, Any]

    @property
    def pilots(self) -> dict[str, str]:
        """Return the states of the pilots."""
        return dict(self.parts.get(PILOTS, {}))

    @property
    def pilots_down(self) -> list[str]:
        """Return a message for each pilot that does not run."""
        return [
            f"pilot {name} is {state}"
            for name, state in self.pilots.items()
            if state not in {OK, STARTING}
        ]

    @property
    def refusal(self) -> str | None:
        """Return why no job will ever run, or None if one may."""
        refusals = {
            name: str(reason) for name, reason in self.parts.get(PILOTS_REFUSED, {}).items()
        }
        reasons = dict.fromkeys(refusals.values())
        return f"no pilot starts: {', '.join(refusals)}: {'; '.join(reasons)}" if refusals else None


def read_readiness(url: str) -> Readiness:
    """Return the readiness report of the system at ``url``.

    Raises:
        httpx.HTTPError: The system does not answer.
    """
    answer = send_request("GET", f"{url}{READY_PATH}", timeout=_ANSWER_TIMEOUT)
    return Readiness(answer.is_success, answer.json())


def wait_for_pilots(url: str) -> Readiness:
    """Wait until each pilot has started or failed, and return the report.

    Raises:
        httpx.HTTPError: The system does not answer.
    """
    deadline = time.monotonic() + _START_TIMEOUT
    readiness = read_readiness(url)
    while STARTING in readiness.pilots.values() and time.monotonic() < deadline:
        time.sleep(_POLL_PAUSE)
        readiness = read_readiness(url)
    return readiness


def require_pilots(url: str) -> None:
    """Wait until a pilot of an embedded system has started. A system without pilots needs none.

    Raises:
        NoPilotStarts: None will start. The message says what is missing.
        httpx.HTTPError: The system does not answer.
    """
    deadline = time.monotonic() + _START_TIMEOUT
    while True:
        readiness = read_readiness(url)
        if readiness.refusal is not None:
            raise NoPilotStarts(readiness.refusal)
        if not readiness.pilots or OK in readiness.pilots.values() or time.monotonic() > deadline:
            return
        time.sleep(_POLL_PAUSE)


def read_refusal(url: str) -> str | None:
    """Return why no job at ``url`` will ever run, or None if one may or this is unknown."""
    try:
        return read_readiness(url).refusal
    except (httpx.HTTPError, OSError, ValueError):
        return None


def read_pilots_down(url: str) -> list[str]:
    """Return a message for each pilot that does not run, or nothing if no system answers."""
    try:
        return read_readiness(url).pilots_down
    except (httpx.HTTPError, OSError, ValueError):
        return []
