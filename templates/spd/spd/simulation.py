"""Simulated frames: collisions, their tracks and photons in the detector, and noise.

One generator, seeded with (seed, run, frame), draws everything, so that a frame does not depend on
its neighbours. `timing` has the rules of time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from spd.detector import HIT, MEV_PER_COUNT, HitArray, IntArray, Subdetector, subdetector
from spd.timing import (
    EVENT_WINDOW_NS,
    GUARD_NS,
    MAX_NOISE_GROUP,
    MIN_EVENT_DISTANCE_NS,
    NOISE_GROUP_NS,
)
from spd.traversal import Deposits, neutral_deposits, noise_deposits, track_deposits


@dataclass(frozen=True)
class Conditions:
    """The conditions of a simulated run.

    `events` is the mean number of events in a frame and `distance_ns` their mean distance. Both fix
    the length of the frame. `hard_share` is the share of collisions with many tracks. `event_noise`
    is the mean number of noise hits during an event. `gap_noise` is the mean number of hits in a
    group of noise between events, before the limit `MAX_NOISE_GROUP`.
    """

    events: float = 100.0
    distance_ns: int = 1000
    hard_share: float = 0.15
    event_noise: float = 3.0
    gap_noise: float = 1.5

    @property
    def length_ns(self) -> int:
        """Return the length of a frame in ns."""
        return max(round(self.events * self.distance_ns), 10 * MIN_EVENT_DISTANCE_NS)


@dataclass(frozen=True)
class TrueEvents:
    """The true events of a frame, sorted by time, with one entry for each event.

    `time_ns` is the time of the event's first hit since the frame's start. `hits` is the number of
    its hits, including noise.
    """

    time_ns: IntArray
    multiplicity: IntArray
    energy_mev: NDArray[np.float64]
    hits: IntArray


def simulate_frame(
    seed: int, run: int, frame: int, conditions: Conditions
) -> tuple[HitArray, TrueEvents]:
    """Return the hits (unsorted) and the true events of one frame."""
    rng = np.random.default_rng([seed, run, frame])
    collisions = _collision_times(rng, conditions)
    hard = rng.random(len(collisions)) < conditions.hard_share
    tracks = 1 + rng.poisson(np.where(hard, 5.0, 1.5))
    deposits = Deposits.concatenate(
        [
            track_deposits(rng, tracks, hard),
            neutral_deposits(rng, hard),
            noise_deposits(rng, len(collisions), conditions.event_noise),
        ]
    )
    hits = _make_hits(deposits, collisions[deposits.event_index] + deposits.delay_ns)
    truth = _true_events(deposits, hits, collisions, tracks)
    return np.concatenate((hits, _gap_noise(rng, collisions, conditions))), truth


def _collision_times(rng: Generator, conditions: Conditions) -> IntArray:
    """Return random times that are at least `MIN_EVENT_DISTANCE_NS` apart.

    The remaining time is distributed at random between the collisions.
    """
    length = conditions.length_ns
    max_events = (length - EVENT_WINDOW_NS) // MIN_EVENT_DISTANCE_NS
    count = min(int(rng.poisson(conditions.events)), max_events)
    free = length - 1 - EVENT_WINDOW_NS - max(count - 1, 0) * MIN_EVENT_DISTANCE_NS
    shares = np.sort(rng.integers(0, free, count, endpoint=True))
    return np.asarray(shares + np.arange(count) * MIN_EVENT_DISTANCE_NS, dtype=np.int64)


def _make_hits(deposits: Deposits, times: IntArray) -> HitArray:
    hits = np.empty(len(times), dtype=HIT)
    hits["channel"] = deposits.channel
    hits["amplitude"] = deposits.amplitude
    hits["time"] = times
    return hits


def _true_events(
    deposits: Deposits, hits: HitArray, collisions: IntArray, tracks: IntArray
) -> TrueEvents:
    count = len(collisions)
    first = collisions + EVENT_WINDOW_NS
    np.minimum.at(first, deposits.event_index, hits["time"].astype(np.int64))
    in_calorimeter = subdetector(deposits.channel) == Subdetector.CALORIMETER
    counts = np.bincount(
        deposits.event_index[in_calorimeter],
        weights=deposits.amplitude[in_calorimeter],
        minlength=count,
    )
    energy = np.asarray(counts * MEV_PER_COUNT, dtype=np.float64)
    return TrueEvents(first, tracks, energy, np.bincount(deposits.event_index, minlength=count))


def _gap_noise(rng: Generator, collisions: IntArray, conditions: Conditions) -> HitArray:
    """Return noise between events: small groups, each with a guard around it."""
    starts = np.concatenate(([0], collisions + EVENT_WINDOW_NS + GUARD_NS + 1))
    ends = np.concatenate((collisions - GUARD_NS - 1, [conditions.length_ns - 1]))
    stride = NOISE_GROUP_NS + GUARD_NS + 1
    groups = np.maximum((ends - starts - NOISE_GROUP_NS) // stride + 1, 0)
    slack = np.maximum(ends - starts - NOISE_GROUP_NS - (groups - 1) * stride, 0)
    first = starts + rng.integers(0, slack, endpoint=True)
    rank = np.arange(groups.sum()) - np.repeat(np.cumsum(groups) - groups, groups)
    begins = np.repeat(first, groups) + rank * stride
    sizes = np.minimum(rng.poisson(conditions.gap_noise, len(begins)), MAX_NOISE_GROUP)
    times = np.repeat(begins, sizes)
    times += rng.integers(0, NOISE_GROUP_NS, len(times), endpoint=True)
    return _make_hits(noise_deposits(rng, len(times), None), times)
