"""What a pilot's requests say of who sends them."""

from collections.abc import Generator
from pathlib import Path

import httpx

from sluice.clients.base import API
from sluice.contracts.access import PILOT_TOKEN_HEADER


class PilotAuth(httpx.Auth):
    """It registers with the token of ``file``, which is read each time, and is then given one of
    its own, a new one with each heartbeat. Where the WMS gives none, the first one is all there
    is; without a ``file``, its requests say nothing until it is given one."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._own: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Raises ``httpx.TransportError`` where the file cannot be read."""
        registers = request.url.path.endswith(f"{API}/pilots")
        token = self._enrolment() if registers or self._own is None else self._own
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        self._own = response.headers.get(PILOT_TOKEN_HEADER, self._own)

    def _enrolment(self) -> str | None:
        try:
            return None if self._file is None else self._file.read_text().strip()
        except OSError as error:
            raise httpx.TransportError(f"the pilot's token cannot be read: {error}") from error
