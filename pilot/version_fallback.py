"""Version fallback for a WMS of the previous release.

Such a WMS refuses a request with unknown fields. The request is then sent without them.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from sluice.contracts.common.problems import Unprocessable

Request = TypeVar("Request")
Answer = TypeVar("Answer")

#: Seconds after which the whole request is tried again. Instances of both releases may share an
#: address, and the end of the old ones is not announced.
TRY_AGAIN = 60.0


class VersionFallback:
    """Version fallback for one kind of request."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._form = 0
        self._until = 0.0

    def forget(self) -> None:
        """Send whole requests again, as the WMS may be another one."""
        self._form = 0

    async def send(
        self, call: Callable[[Request], Awaitable[Answer]], forms: Sequence[Request]
    ) -> Answer:
        """Send a request in the newest form that the WMS accepts.

        ``forms`` are the request and its forms for older releases, the newest first.

        Raises:
            ServiceError: The WMS did not accept the request.
        """
        if self._form and self._clock() >= self._until:
            self._form = 0
        for form in range(self._form, len(forms) - 1):
            if forms[form] == forms[form + 1]:
                continue  # it would leave nothing out
            try:
                return await call(forms[form])
            except Unprocessable:
                self._form = form + 1
                self._until = self._clock() + TRY_AGAIN
        return await call(forms[-1])
