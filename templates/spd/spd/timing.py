"""The rules of time that make event building exact.

The simulation obeys the rules, and the README explains them. Inside an event, neighbouring hits are
at most the window apart. Between an event and anything else, and between two groups of noise, there
is always more than the guard.

`spd-build-events` thus finds exactly the true events. Its gap must be from `EVENT_WINDOW_NS` to
`GUARD_NS`, and its smallest number of hits from `MAX_NOISE_GROUP` + 1 to `detector.TRACK_LAYERS` +
1.
"""

EVENT_WINDOW_NS = 100
"""The time in ns after a collision within which all hits of its event come."""

GUARD_NS = 120
"""There are more ns than this without a hit around each event and each group of noise."""

MIN_EVENT_DISTANCE_NS = 300
"""The least time between two collisions in ns, more than the window and the guard together."""

NOISE_GROUP_NS = 20
"""The time in ns within which all hits of a group of noise come."""

MAX_NOISE_GROUP = 4
"""The largest number of hits in a group of noise, too few for an event."""
