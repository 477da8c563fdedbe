"""Authentication of a pilot's requests."""

import time
from collections.abc import Callable, Generator
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx

from sluice.clients.base import API
from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER
from sluice.network.credentials import read_token
from sluice.pilot_access.key import PilotKey


class PilotAuth(httpx.Auth):
    """httpx authentication of a pilot.

    It registers with the token in ``file``, which is read each time, and proves that it has its
    ``key``. It then gets its own token, and a new one with each heartbeat. If the WMS issues
    none, it keeps the first token. Without a ``file`` its requests carry no token until it gets
    one.
    """

    def __init__(
        self,
        file: Path | None,
        key: PilotKey | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Set up the authentication. Without ``key`` a temporary one is made."""
        self._file = file
        self._key = key or PilotKey.new()
        self._clock = clock
        self._own_token: str | None = None

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign a request.

        Raises:
            httpx.TransportError: The file cannot be read.
        """
        registers = request.url.path.endswith(f"{API}/pilots")
        token = self._enrolment() if registers or self._own_token is None else self._own_token
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"
        if registers:
            request.headers[PILOT_PROOF_HEADER] = self._key.proof(self._clock())
        response = yield request
        if registers and response.status_code == httpx.codes.UNAUTHORIZED:
            # This clock may be wrong, so that the proof is too old or in the future for the server.
            request.headers[PILOT_PROOF_HEADER] = self._key.proof(self._read_server_time(response))
            response = yield request
        self._own_token = response.headers.get(PILOT_TOKEN_HEADER, self._own_token)

    def _read_server_time(self, response: httpx.Response) -> float:
        """Return the time of the server."""
        try:
            return parsedate_to_datetime(response.headers["date"]).timestamp()
        except (KeyError, ValueError):
            return self._clock()

    def _enrolment(self) -> str | None:
        try:
            return None if self._file is None else read_token(self._file)
        except OSError as error:
            raise httpx.TransportError(f"the pilot has no token: {error}") from error
