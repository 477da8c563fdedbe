"""Limits on requests, from the settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on requests.

    Attributes:
        hosts: Names, besides the machine's own, under which the service is reached.
        body: The maximum size of a body in bytes.
        body_seconds: The maximum time for a body to arrive.
        settings: The prefix of the environment variables of these settings.
    """

    hosts: frozenset[str] = frozenset()
    body: int = 16 * 1024 * 1024
    body_seconds: float = 30.0
    settings: str = "SLUICE_"
