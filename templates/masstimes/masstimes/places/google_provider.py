"""What both forms of Google's Places API have in common."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar, NoReturn

from masstimes.places.provider import Access, BadAnswer, Denied, OverQuota
from masstimes.polite import Polite


class GoogleProvider:
    """A provider that needs a key and whose details tell more than its searches."""

    HAS_DETAILS: ClassVar[bool] = True
    NEEDS_KEY: ClassVar[bool] = True
    PAUSE: ClassVar[float] = 0.0
    #: Statuses that mean that the quota is used up.
    OVER_QUOTA: ClassVar[Collection[str]]
    #: Statuses that mean that the key is not accepted.
    DENIED: ClassVar[Collection[str]]

    def __init__(self, access: Access, polite: Polite) -> None:
        self._access = access
        self._polite = polite
        self._url = access.url.rstrip("/")

    def _fail(self, status: str, message: str) -> NoReturn:
        """Raise what an error of the API means.

        Raises:
            OverQuota: the quota is used up.
            Denied: the key is not accepted.
            BadAnswer: anything else.
        """
        message = self._access.without_key(message)
        told = f"{self._url}: {status}{f': {message}' if message else ''}"
        if status in self.OVER_QUOTA:
            raise OverQuota(f"{told}. The quota is used up: try again when it is full")
        if status in self.DENIED or "API key" in message:
            raise Denied(f"{told}. Check the key and what it is allowed to use")
        raise BadAnswer(told)
