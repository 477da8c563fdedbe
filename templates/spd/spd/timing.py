"""The rules of time that make event building exact; the simulation keeps them, the README explains
them.

With them, every gap from `EVENT_WINDOW_NS` to `GUARD_NS` that `spd-build-events` is given, and
every smallest number of hits from `MAX_NOISE_GROUP` + 1 to `detector.TRACK_LAYERS` + 1, yields
exactly the true events: inside an event no two neighbouring hits are further apart than the window;
between an event and anything else, and between two groups of noise, there is always more than the
guard.
"""

from __future__ import annotations

EVENT_WINDOW_NS = 100
"""All hits of an event come within so many ns of its collision."""

GUARD_NS = 120
"""More than so many ns without a hit lie around every event and around every group of noise."""

MIN_EVENT_DISTANCE_NS = 300
"""Two collisions are at least so far apart; more than the window and the guard together."""

NOISE_GROUP_NS = 20
"""The hits of a group of noise come within so many ns."""

MAX_NOISE_GROUP = 4
"""A group of noise never has more hits: too few for an event."""
