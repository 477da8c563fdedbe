"""Limits on requests, from the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field

#: The maximum size of the body of a pilot's registration in bytes.
MAX_REGISTRATION = 1024 * 1024
#: The maximum sizes of bodies that are never large, by the end of their path.
_SMALL_BODIES = {"/api/v1/pilots": MAX_REGISTRATION}


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on requests.

    Attributes:
        hosts: Names, besides the machine's own, under which the service is reached.
        body: The maximum size of a body in bytes.
        body_seconds: The maximum time for a body to arrive.
        settings: The prefix of the environment variables of these settings.
        paths: The maximum sizes of bodies of certain paths, by the end of the path. They apply if
            they are smaller than ``body``.
    """

    hosts: frozenset[str] = frozenset()
    body: int = 16 * 1024 * 1024
    body_seconds: float = 30.0
    settings: str = "SLUICE_"
    paths: Mapping[str, int] = field(default_factory=lambda: dict(_SMALL_BODIES))

    def body_at(self, path: str) -> int:
        """Return the maximum size of a body that is sent to the path."""
        return min([self.body, *(limit for end, limit in self.paths.items() if path.endswith(end))])
