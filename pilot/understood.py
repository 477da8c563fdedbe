"""What a WMS understands that may be of the release before: it refuses a request with fields that
it does not know, and takes it without them."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from sluice.contracts.problems import Unprocessable

Request = TypeVar("Request")
Answer = TypeVar("Answer")

#: Seconds after which the whole request is tried again: instances of both releases may stand behind
#: one address, and the last of the release before goes without a word.
TRY_AGAIN = 60.0


class Understood:
    """Of one kind of request."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._form = 0
        self._until = 0.0

    def forget(self) -> None:
        """It may be another WMS."""
        self._form = 0

    async def send(
        self, call: Callable[[Request], Awaitable[Answer]], forms: Sequence[Request]
    ) -> Answer:
        """``forms``: the request, and what is left of it for one release before the other. Raises
        ``ServiceError``."""
        if self._form and self._clock() >= self._until:
            self._form = 0
        for form in range(self._form, len(forms) - 1):
            if forms[form] == forms[form + 1]:
                continue  # nothing would be left out
            try:
                return await call(forms[form])
            except Unprocessable:
                self._form = form + 1
                self._until = self._clock() + TRY_AGAIN
        return await call(forms[-1])
