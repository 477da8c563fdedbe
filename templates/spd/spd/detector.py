"""The model detector: subdetectors, channels, and the roads of straight tracks.

A channel has a 32-bit code: the subdetector's number in the top 8 bits, and the channel's number
inside the subdetector in the lower 24. Channels of a subdetector are numbered layer by layer. Each
layer is divided in azimuth into `ROADS` equal sectors. A straight track from the centre stays in
one sector, its road, in every layer. There are about 500 000 channels in all. The numbers are round
figures of this model, not a survey of the real detector.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROADS = 128
"""The number of azimuthal sectors. The model's tracks never leave their sector."""

TRACK_LAYERS = 7
"""The number of the 11 tracking layers that must have hits for a road to hold a track.

The road needs a time-of-flight hit too.
"""

MEV_PER_COUNT = 0.5
"""The calibration of the calorimeter, a power of two so that sums of counts stay exact."""

HIT = np.dtype([("channel", "<u4"), ("amplitude", "<u4"), ("time", "<u8")])
"""One hit of 16 bytes, little-endian: channel code, amplitude, time.

The amplitude is in ADC counts, the time in ns since the frame's start.
"""

IntArray = NDArray[np.int64]
HitArray = NDArray[np.void]


class Subdetector(IntEnum):
    """Numbers of the subdetectors in read-out order."""

    VERTEX = 1
    STRAW = 2
    TOF = 3
    CALORIMETER = 4
    MUON = 5


@dataclass(frozen=True)
class Geometry:
    """The layers of a subdetector and the channels (`cells`) of each layer.

    `cells` is a multiple of `ROADS`.
    """

    layers: int
    cells: int

    @property
    def channels(self) -> int:
        """Return the number of channels of the subdetector."""
        return self.layers * self.cells


GEOMETRY = {
    Subdetector.VERTEX: Geometry(3, 864 * ROADS),
    Subdetector.STRAW: Geometry(8, 26 * ROADS),
    Subdetector.TOF: Geometry(1, 94 * ROADS),
    Subdetector.CALORIMETER: Geometry(1, 180 * ROADS),
    Subdetector.MUON: Geometry(4, 208 * ROADS),
}
TRACKING = (Subdetector.VERTEX, Subdetector.STRAW)
TRACKING_LAYERS = sum(GEOMETRY[part].layers for part in TRACKING)

# Indexed by subdetector number, to look up whole arrays at once. No subdetector has number 0.
_CHANNELS = np.array([0] + [GEOMETRY[part].channels for part in Subdetector])
_CELLS = np.array([1] + [GEOMETRY[part].cells for part in Subdetector])


def encode_channel(part: Subdetector, layer: IntArray, cell: IntArray) -> NDArray[np.uint32]:
    """Return the channel codes of `cell` in `layer` of one subdetector."""
    return ((int(part) << 24) + layer * GEOMETRY[part].cells + cell).astype(np.uint32)


def subdetector(code: NDArray[Any]) -> IntArray:
    """Return the subdetector numbers of channel codes."""
    return (code >> 24).astype(np.int64)


def channel_number(code: NDArray[Any]) -> IntArray:
    """Return the channel numbers inside their subdetector."""
    return (code & 0xFFFFFF).astype(np.int64)


def is_known_channel(code: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which codes belong to an existing channel."""
    part = subdetector(code)
    inside = part < len(_CHANNELS)
    return inside & (channel_number(code) < _CHANNELS[np.where(inside, part, 0)])


def layer(code: NDArray[Any]) -> IntArray:
    """Return the layers of channel codes, counted from 0 inside each subdetector."""
    return np.asarray(channel_number(code) // _CELLS[subdetector(code)], dtype=np.int64)


def road(code: NDArray[Any]) -> IntArray:
    """Return the azimuthal sectors of channel codes, 0 to ROADS - 1."""
    cells = _CELLS[subdetector(code)]
    return np.asarray((channel_number(code) % cells) // (cells // ROADS), dtype=np.int64)
