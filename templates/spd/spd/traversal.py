"""The signals of particles and noise in the detector during one collision.

Tracks are straight: each stays in one road, and no two tracks of an event share a road. Each
tracking layer sees a track with 95 % probability. At least `TRACK_LAYERS` tracking layers and the
time-of-flight counter always see it, so that the number of tracks can be recovered exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from spd.detector import (
    GEOMETRY,
    ROADS,
    TRACK_LAYERS,
    TRACKING_LAYERS,
    IntArray,
    Subdetector,
    encode,
)
from spd.timing import EVENT_WINDOW_NS

EFFICIENCY = 0.95
MUON_SHARE = 0.08

# Shortest and longest delay after the collision in ns: flight, drift (straws) and scintillation.
DELAYS = {
    Subdetector.VERTEX: (0, 5),
    Subdetector.STRAW: (2, 80),
    Subdetector.TOF: (3, 12),
    Subdetector.CALORIMETER: (5, 30),
    Subdetector.MUON: (8, EVENT_WINDOW_NS),
}
# Mean amplitude in ADC counts of a particle that only ionises the material.
SIGNAL_COUNTS = {
    Subdetector.VERTEX: 80,
    Subdetector.STRAW: 120,
    Subdetector.TOF: 300,
    Subdetector.CALORIMETER: 500,
    Subdetector.MUON: 150,
}


@dataclass(frozen=True)
class Deposits:
    """Signals by column: index of the event, channel code, amplitude in counts, delay in ns."""

    owner: IntArray
    channel: NDArray[np.uint32]
    amplitude: IntArray
    delay_ns: IntArray

    @staticmethod
    def joined(parts: Sequence[Deposits]) -> Deposits:
        """Return all deposits of `parts`, in their order."""
        return Deposits(
            np.concatenate([part.owner for part in parts]),
            np.concatenate([part.channel for part in parts]),
            np.concatenate([part.amplitude for part in parts]),
            np.concatenate([part.delay_ns for part in parts]),
        )


def track_deposits(rng: Generator, tracks: IntArray, hard: NDArray[np.bool_]) -> Deposits:
    """Return the signals of charged tracks. `tracks` is the number in each event."""
    owner = np.repeat(np.arange(len(tracks)), tracks)
    roads = _distinct_roads(rng, tracks)
    crossed = rng.random((len(owner), TRACKING_LAYERS)) < EFFICIENCY
    crossed[crossed.sum(axis=1) < TRACK_LAYERS] = True
    vertex_layers = GEOMETRY[Subdetector.VERTEX].layers
    everywhere = np.ones((len(owner), 1), dtype=bool)
    muon = rng.random(len(owner)) < MUON_SHARE
    muon_crossed = (
        rng.random((len(owner), GEOMETRY[Subdetector.MUON].layers)) < EFFICIENCY
    ) & muon[:, None]
    energy = SIGNAL_COUNTS[Subdetector.CALORIMETER] * np.where(hard[owner], 1.5, 0.6)
    shower = 1 + rng.exponential(energy).astype(np.int64)
    return Deposits.joined(
        [
            _along(
                rng,
                Subdetector.VERTEX,
                owner=owner,
                roads=roads,
                crossed=crossed[:, :vertex_layers],
            ),
            _along(
                rng, Subdetector.STRAW, owner=owner, roads=roads, crossed=crossed[:, vertex_layers:]
            ),
            _along(rng, Subdetector.TOF, owner=owner, roads=roads, crossed=everywhere),
            _showers(rng, owner, roads, shower),
            _along(rng, Subdetector.MUON, owner=owner, roads=roads, crossed=muon_crossed),
        ]
    )


def neutral_deposits(rng: Generator, hard: NDArray[np.bool_]) -> Deposits:
    """Return the showers of photons, which only the calorimeter sees."""
    photons = rng.poisson(np.where(hard, 3.0, 1.0))
    owner = np.repeat(np.arange(len(hard)), photons)
    energy = 1 + rng.exponential(np.where(hard[owner], 900.0, 300.0)).astype(np.int64)
    return _showers(rng, owner, rng.integers(0, ROADS, len(owner)), energy)


def noise_deposits(rng: Generator, count: int, mean: float | None) -> Deposits:
    """Return noise anywhere in the detector.

    With a `mean`, each of `count` events gets that many hits on average. They are only in the
    vertex detector, straw tracker and muon system, where they change neither multiplicity nor
    energy.

    Without a `mean`, there are `count` hits in any subdetector, each with its own index.
    """
    parts = [Subdetector.VERTEX, Subdetector.STRAW, Subdetector.MUON]
    if mean is None:
        owner, parts = np.arange(count), list(Subdetector)
    else:
        owner = np.repeat(np.arange(count), rng.poisson(mean, count))
    kind = rng.integers(0, len(parts), len(owner))
    channel = np.zeros(len(owner), dtype=np.uint32)
    for index, part in enumerate(parts):
        chosen = kind == index
        cells = rng.integers(0, GEOMETRY[part].channels, int(chosen.sum()))
        channel[chosen] = encode(part, np.zeros_like(cells), cells)
    amplitude = 1 + rng.exponential(20.0, len(owner)).astype(np.int64)
    delay = rng.integers(0, EVENT_WINDOW_NS, len(owner), endpoint=True)
    return Deposits(owner, channel, amplitude, delay)


def _distinct_roads(rng: Generator, tracks: IntArray) -> IntArray:
    """Return a road for every track. No two tracks of an event share a road."""
    shuffled = rng.random((len(tracks), ROADS)).argsort(axis=1)
    taken = np.arange(ROADS) < tracks[:, None]
    return np.asarray(shuffled[taken], dtype=np.int64)


def _along(
    rng: Generator,
    part: Subdetector,
    *,
    owner: IntArray,
    roads: IntArray,
    crossed: NDArray[np.bool_],
) -> Deposits:
    """Return the ionisation in the layers of one subdetector.

    `crossed` has a row for each track and a column for each layer.
    """
    track, layer = np.nonzero(crossed)
    amplitude = rng.gamma(4.0, SIGNAL_COUNTS[part] / 4.0, len(track)).astype(np.int64) + 1
    return _deposits(
        rng, part, owner[track], _cells(rng, part, roads[track]), layer=layer, amplitude=amplitude
    )


def _showers(rng: Generator, owner: IntArray, roads: IntArray, counts: IntArray) -> Deposits:
    """Return energy in the calorimeter, one cell for each particle."""
    part = Subdetector.CALORIMETER
    cells = _cells(rng, part, roads)
    return _deposits(rng, part, owner, cells, layer=np.zeros_like(cells), amplitude=counts)


def _cells(rng: Generator, part: Subdetector, roads: IntArray) -> IntArray:
    """Return a random cell inside each road."""
    width = GEOMETRY[part].cells // ROADS
    return roads * width + rng.integers(0, width, len(roads))


def _deposits(
    rng: Generator,
    part: Subdetector,
    owner: IntArray,
    cells: IntArray,
    *,
    layer: IntArray,
    amplitude: IntArray,
) -> Deposits:
    shortest, longest = DELAYS[part]
    delay = rng.integers(shortest, longest, len(owner), endpoint=True)
    return Deposits(owner, encode(part, layer, cells), amplitude, delay)
