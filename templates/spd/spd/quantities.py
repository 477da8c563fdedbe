"""The quantities that events are filtered by: tracks and energy in the calorimeter."""

import numpy as np
from numpy.typing import NDArray

from spd.detector import (
    GEOMETRY,
    MEV_PER_COUNT,
    ROADS,
    TRACK_LAYERS,
    TRACKING_LAYERS,
    HitArray,
    IntArray,
    Subdetector,
    layer,
    road,
    subdetector,
)


def event_indices(offsets: IntArray) -> IntArray:
    """Return the index of the event of each hit."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def track_multiplicity(hits: HitArray, offsets: IntArray) -> IntArray:
    """Return the number of tracks of each event.

    A track is a road with a time-of-flight hit and hits in at least `TRACK_LAYERS` tracking layers.
    """
    events = len(offsets) - 1
    codes = hits["channel"]
    part = subdetector(codes)
    event_road = event_indices(offsets) * ROADS + road(codes)
    tracking = (part == Subdetector.VERTEX) | (part == Subdetector.STRAW)
    tracking_layer = layer(codes) + np.where(
        part == Subdetector.STRAW, GEOMETRY[Subdetector.VERTEX].layers, 0
    )
    crossed_roads = (
        np.unique(event_road[tracking] * TRACKING_LAYERS + tracking_layer[tracking])
        // TRACKING_LAYERS
    )
    has_layers = np.bincount(crossed_roads, minlength=events * ROADS) >= TRACK_LAYERS
    has_time = np.bincount(event_road[part == Subdetector.TOF], minlength=events * ROADS) > 0
    return np.asarray((has_layers & has_time).reshape(events, ROADS).sum(axis=1), dtype=np.int64)


def calorimeter_energy(hits: HitArray, offsets: IntArray) -> NDArray[np.float64]:
    """Return the energy of each event in the calorimeter in MeV."""
    in_calorimeter = subdetector(hits["channel"]) == Subdetector.CALORIMETER
    counts = np.bincount(
        event_indices(offsets)[in_calorimeter],
        weights=hits["amplitude"][in_calorimeter],
        minlength=len(offsets) - 1,
    )
    return np.asarray(counts * MEV_PER_COUNT, dtype=np.float64)
