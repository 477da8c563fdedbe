"""The rules of time that make event building exact.

The simulation obeys the rules, and the README explains them. Inside an event, neighbouring hits are
at most the window apart. Between an event and anything else, and between two groups of noise, there
is always more than the guard.

`spd-build-events` thus finds exactly the true events if its gap is from `EVENT_WINDOW_NS` to
`GUARD_NS` and its smallest number of hits from `MAX_NOISE_GROUP` + 1 to
`detector.TRACK_LAYERS` + 1.
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
