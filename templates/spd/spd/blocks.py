"""The file format between steps: the hits or the events of one frame.

A file is an uncompressed NumPy archive (`numpy.load` opens it). `about` is a JSON text with the
kind of block and the fields of `FrameInfo`. Kind `hits` has the array `hits`. Kind `events` has the
arrays `number`, `offsets`, `hits`, `multiplicity` and `energy_mev`, as in `EventBlock`.
"""

import io
import json
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.packs.programs import BadData, read_input, reason_in, write_complete
from spd.detector import HIT, HitArray, IntArray

FORMAT_VERSION = 1


@dataclass(frozen=True)
class FrameInfo:
    """The metadata of a frame.

    Each step passes the metadata on and adds its counts and the cuts that it applied.
    """

    run: int
    frame: int
    period: str
    start_time_ns: int
    length_ns: int
    hits_read: int
    events_built: int = 0
    events_kept: int = 0
    cuts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class HitBlock:
    """All hits of a frame, sorted by time."""

    info: FrameInfo
    hits: HitArray


@dataclass(frozen=True)
class EventBlock:
    """Events of a frame, sorted by time.

    Event i has the hits `offsets[i]` to `offsets[i + 1]` of `hits`, sorted by time. `number` counts
    the events found in the frame from 0; events keep their number when others are dropped.
    `multiplicity` is the number of tracks, `energy_mev` the energy in the calorimeter in MeV.
    """

    info: FrameInfo
    number: IntArray
    offsets: IntArray
    hits: HitArray
    multiplicity: IntArray
    energy_mev: NDArray[np.float64]

    @property
    def time_ns(self) -> IntArray:
        """Return the time of each event's first hit, in ns since the frame's start."""
        return self.hits["time"][self.offsets[:-1]].astype(np.int64)

    @property
    def sizes(self) -> IntArray:
        """Return the number of hits of each event."""
        return np.diff(self.offsets)


_ARRAYS: dict[str, dict[str, np.dtype[Any]]] = {
    "hits": {"hits": HIT},
    "events": {
        "number": np.dtype("<i8"),
        "offsets": np.dtype("<i8"),
        "hits": HIT,
        "multiplicity": np.dtype("<i8"),
        "energy_mev": np.dtype("<f8"),
    },
}


def write_hits(path: Path, block: HitBlock) -> None:
    """Write a block of kind `hits`."""
    _write(path, "hits", block.info, {"hits": block.hits})


def write_events(path: Path, block: EventBlock) -> None:
    """Write a block of kind `events`."""
    _write(path, "events", block.info, {name: getattr(block, name) for name in _ARRAYS["events"]})


def read_hits(path: Path) -> HitBlock:
    """Read a block of kind `hits`.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no block of hits.
    """
    info, arrays = _read(path, "hits")
    return HitBlock(info, arrays["hits"])


def read_events(path: Path) -> EventBlock:
    """Read a block of kind `events`.

    This function checks the types of the arrays. `spd-verify` checks that the arrays agree.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no block of events.
    """
    info, arrays = _read(path, "events")
    return EventBlock(info, **arrays)


def _write(path: Path, kind: str, info: FrameInfo, arrays: dict[str, NDArray[Any]]) -> None:
    about = json.dumps({"kind": kind, "version": FORMAT_VERSION, **asdict(info)}, sort_keys=True)
    buffer = io.BytesIO()
    # NumPy writes constant dates into the archive, so equal content gives equal bytes.
    np.savez(buffer, about=np.array(about), **arrays)  # type: ignore[arg-type] # the stub takes every keyword for allow_pickle
    write_complete(path, buffer.getvalue())


def _read(path: Path, kind: str) -> tuple[FrameInfo, dict[str, NDArray[Any]]]:
    content = read_input(path)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            about = json.loads(str(archive["about"]))
            actual = (about.pop("kind"), about.pop("version"))
            if actual != (kind, FORMAT_VERSION):
                raise BadData(
                    path,
                    f"holds {actual[0]} of version {actual[1]}, not {kind} of version"
                    f" {FORMAT_VERSION}",
                )
            arrays = {name: archive[name] for name in _ARRAYS[kind]}
            info = FrameInfo(**about)
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, TypeError, AttributeError) as error:
        raise BadData(
            path, f"is not a complete file of {kind} written by this pack ({reason_in(error)})"
        ) from error
    for name, dtype in _ARRAYS[kind].items():
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise BadData(path, f"the array {name} is not a row of {dtype}")
    return info, arrays
