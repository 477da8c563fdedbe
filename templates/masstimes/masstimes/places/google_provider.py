"""The common part of both forms of Google's Places API."""

from collections.abc import Collection
from typing import ClassVar, NoReturn

from masstimes.places.provider import Access, InvalidResponse, KeyRefused, QuotaExceeded
from masstimes.polite import PoliteClient


class GoogleProvider:
    """A provider that needs a key, and whose details have more than its searches."""

    HAS_DETAILS: ClassVar[bool] = True
    NEEDS_KEY: ClassVar[bool] = True
    PAUSE: ClassVar[float] = 0.0
    #: Statuses that mean that the quota is used up.
    OVER_QUOTA: ClassVar[Collection[str]]
    #: Statuses that mean that the key is not accepted.
    DENIED: ClassVar[Collection[str]]

    def __init__(self, access: Access, polite: PoliteClient) -> None:
        self._access = access
        self._polite = polite
        self._url = access.url.rstrip("/")

    def _fail(self, status: str, message: str) -> NoReturn:
        """Raise the exception for an error of the API.

        Raises:
            QuotaExceeded: The quota is used up.
            KeyRefused: The key is not accepted.
            InvalidResponse: Another error.
        """
        message = self._access.without_key(message)
        problem = f"{self._url}: {status}{f': {message}' if message else ''}"
        if status in self.OVER_QUOTA:
            raise QuotaExceeded(f"{problem}. The quota is used up: try again when it is full")
        if status in self.DENIED or "API key" in message:
            raise KeyRefused(f"{problem}. Check the key and what it is allowed to use")
        raise InvalidResponse(problem)
