"""What a request may be: from the settings, for the guard that holds it against them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """``hosts``: names, besides the machine's own, under which requests may come. ``body``: bytes
    of a request's body; ``body_seconds``: for all of it to arrive. ``settings``: what the settings
    of these begin with.
    """

    hosts: frozenset[str] = frozenset()
    body: int = 16 * 1024 * 1024
    body_seconds: float = 30.0
    settings: str = "SLUICE_"
