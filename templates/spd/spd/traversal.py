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
    encode_channel,
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

    event_index: IntArray
    channel: NDArray[np.uint32]
    amplitude: IntArray
    delay_ns: IntArray

    @staticmethod
    def concatenate(parts: Sequence[Deposits]) -> Deposits:
        """Return all deposits of `parts`, in their order."""
        return Deposits(
            np.concatenate([part.event_index for part in parts]),
            np.concatenate([part.channel for part in parts]),
            np.concatenate([part.amplitude for part in parts]),
            np.concatenate([part.delay_ns for part in parts]),
        )


def track_deposits(rng: Generator, tracks: IntArray, hard: NDArray[np.bool_]) -> Deposits:
    """Return the signals of charged tracks. `tracks` is the number in each event."""
    event_index = np.repeat(np.arange(len(tracks)), tracks)
    roads = _distinct_roads(rng, tracks)
    crossed = rng.random((len(event_index), TRACKING_LAYERS)) < EFFICIENCY
    crossed[crossed.sum(axis=1) < TRACK_LAYERS] = True
    vertex_layers = GEOMETRY[Subdetector.VERTEX].layers
    everywhere = np.ones((len(event_index), 1), dtype=bool)
    muon = rng.random(len(event_index)) < MUON_SHARE
    muon_crossed = (
        rng.random((len(event_index), GEOMETRY[Subdetector.MUON].layers)) < EFFICIENCY
    ) & muon[:, None]
    energy = SIGNAL_COUNTS[Subdetector.CALORIMETER] * np.where(hard[event_index], 1.5, 0.6)
    shower = 1 + rng.exponential(energy).astype(np.int64)
    return Deposits.concatenate(
        [
            _layer_deposits(
                rng,
                Subdetector.VERTEX,
                event_index=event_index,
                roads=roads,
                crossed_cells=crossed[:, :vertex_layers],
            ),
            _layer_deposits(
                rng,
                Subdetector.STRAW,
                event_index=event_index,
                roads=roads,
                crossed_cells=crossed[:, vertex_layers:],
            ),
            _layer_deposits(
                rng, Subdetector.TOF, event_index=event_index, roads=roads, crossed_cells=everywhere
            ),
            _shower_deposits(rng, event_index, roads, shower),
            _layer_deposits(
                rng,
                Subdetector.MUON,
                event_index=event_index,
                roads=roads,
                crossed_cells=muon_crossed,
            ),
        ]
    )


def neutral_deposits(rng: Generator, hard: NDArray[np.bool_]) -> Deposits:
    """Return the showers of photons, which only the calorimeter sees."""
    photons = rng.poisson(np.where(hard, 3.0, 1.0))
    event_index = np.repeat(np.arange(len(hard)), photons)
    energy = 1 + rng.exponential(np.where(hard[event_index], 900.0, 300.0)).astype(np.int64)
    return _shower_deposits(rng, event_index, rng.integers(0, ROADS, len(event_index)), energy)


def noise_deposits(rng: Generator, count: int, mean: float | None) -> Deposits:
    """Return noise anywhere in the detector.

    With a `mean`, each of `count` events gets that many hits on average. They are only in the
    vertex detector, straw tracker and muon system, where they change neither multiplicity nor
    energy.

    Without a `mean`, there are `count` hits in any subdetector, each with its own index.
    """
    parts = [Subdetector.VERTEX, Subdetector.STRAW, Subdetector.MUON]
    if mean is None:
        event_index, parts = np.arange(count), list(Subdetector)
    else:
        event_index = np.repeat(np.arange(count), rng.poisson(mean, count))
    kind = rng.integers(0, len(parts), len(event_index))
    channel = np.zeros(len(event_index), dtype=np.uint32)
    for index, part in enumerate(parts):
        chosen = kind == index
        cells = rng.integers(0, GEOMETRY[part].channels, int(chosen.sum()))
        channel[chosen] = encode_channel(part, np.zeros_like(cells), cells)
    amplitude = 1 + rng.exponential(20.0, len(event_index)).astype(np.int64)
    delay = rng.integers(0, EVENT_WINDOW_NS, len(event_index), endpoint=True)
    return Deposits(event_index, channel, amplitude, delay)


def _distinct_roads(rng: Generator, tracks: IntArray) -> IntArray:
    """Return a road for every track. No two tracks of an event share a road."""
    shuffled = rng.random((len(tracks), ROADS)).argsort(axis=1)
    is_used = np.arange(ROADS) < tracks[:, None]
    return np.asarray(shuffled[is_used], dtype=np.int64)


def _layer_deposits(
    rng: Generator,
    part: Subdetector,
    *,
    event_index: IntArray,
    roads: IntArray,
    crossed_cells: NDArray[np.bool_],
) -> Deposits:
    """Return the ionisation in the layers of one subdetector.

    `crossed` has a row for each track and a column for each layer.
    """
    track, layer = np.nonzero(crossed_cells)
    amplitude = rng.gamma(4.0, SIGNAL_COUNTS[part] / 4.0, len(track)).astype(np.int64) + 1
    return _deposits(
        rng,
        part,
        event_index[track],
        _cells(rng, part, roads[track]),
        layer=layer,
        amplitude=amplitude,
    )


def _shower_deposits(
    rng: Generator, event_index: IntArray, roads: IntArray, counts: IntArray
) -> Deposits:
    """Return energy in the calorimeter, one cell for each particle."""
    part = Subdetector.CALORIMETER
    cells = _cells(rng, part, roads)
    return _deposits(rng, part, event_index, cells, layer=np.zeros_like(cells), amplitude=counts)


def _cells(rng: Generator, part: Subdetector, roads: IntArray) -> IntArray:
    """Return a random cell inside each road."""
    width = GEOMETRY[part].cells // ROADS
    return roads * width + rng.integers(0, width, len(roads))


def _deposits(
    rng: Generator,
    part: Subdetector,
    event_index: IntArray,
    cells: IntArray,
    *,
    layer: IntArray,
    amplitude: IntArray,
) -> Deposits:
    min_delay, max_delay = DELAYS[part]
    delay = rng.integers(min_delay, max_delay, len(event_index), endpoint=True)
    return Deposits(event_index, encode_channel(part, layer, cells), amplitude, delay)
