"""Monitoring histograms, which `spd-verify` makes for each frame and `spd-merge-monitoring` adds.

A monitoring file is JSON: `{format, version, frames: [{run, period, frame, start_time_ns,
hits_read, events_built, events_kept}], histograms: {name: {title, unit, edges, counts, underflow,
overflow}}}`. `edges` has one number more than `counts`; a bin contains its lower edge.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.packs.programs import BadData, read_input, write_complete
from spd.blocks import EventBlock
from spd.detector import GEOMETRY, Subdetector, channel_number, subdetector
from spd.quantities import event_indices
from spd.timing import GUARD_NS

FORMAT = "spd-monitoring"
VERSION = 1
OCCUPANCY_BINS = 64

Histogram = dict[str, Any]
Monitoring = dict[str, Any]


def histogram(title: str, unit: str, values: NDArray[Any], edges: NDArray[Any]) -> Histogram:
    """Count `values` into the bins between `edges`."""
    inside = (values >= edges[0]) & (values < edges[-1])
    bins = np.searchsorted(edges, values[inside], side="right") - 1
    return {
        "title": title,
        "unit": unit,
        "edges": edges.tolist(),
        "counts": np.bincount(bins, minlength=len(edges) - 1).tolist(),
        "underflow": int((values < edges[0]).sum()),
        "overflow": int((values >= edges[-1]).sum()),
    }


def monitor(block: EventBlock) -> Monitoring:
    """Return the monitoring of one frame's events."""
    info = block.info
    codes = block.hits["channel"]
    delays = block.hits["time"].astype(np.int64) - block.time_ns[event_indices(block.offsets)]
    histograms = {
        "hit_time": histogram(
            "Hit time after the event's first hit", "ns", delays, np.arange(0, GUARD_NS + 5, 5)
        ),
        "multiplicity": histogram("Tracks per event", "tracks", block.multiplicity, np.arange(31)),
        "calorimeter_energy": histogram(
            "Calorimeter energy per event", "MeV", block.energy_mev, np.arange(0, 20_400, 400)
        ),
        "event_hits": histogram("Hits per event", "hits", block.sizes, np.arange(0, 420, 20)),
    }
    for part, geometry in GEOMETRY.items():
        channels = channel_number(codes[subdetector(codes) == part])
        edges = np.arange(OCCUPANCY_BINS + 1) * (geometry.channels // OCCUPANCY_BINS)
        histograms[f"occupancy_{part.name.lower()}"] = histogram(
            f"Hits by channel, {_label(part)}", "channel", channels, edges
        )
    names = ("run", "period", "frame", "start_time_ns", "hits_read", "events_built", "events_kept")
    return {
        "format": FORMAT,
        "version": VERSION,
        "frames": [{name: getattr(info, name) for name in names}],
        "histograms": histograms,
    }


def _label(part: Subdetector) -> str:
    return {
        Subdetector.VERTEX: "vertex detector",
        Subdetector.STRAW: "straw tracker",
        Subdetector.TOF: "time of flight",
        Subdetector.CALORIMETER: "calorimeter",
        Subdetector.MUON: "muon system",
    }[part]


def merge_monitoring(parts: Iterable[tuple[Path, Monitoring]]) -> Monitoring:
    """Add the histograms and join the frames of `parts` (file and content), in their order.

    Raises:
        BadData: Frames are out of order or histograms have other bins; the error names the file.
    """
    merged: Monitoring = {"format": FORMAT, "version": VERSION, "frames": [], "histograms": {}}
    last: tuple[int, int] | None = None
    for source, part in parts:
        for frame in part["frames"]:
            last = check_frame_order(last, (frame["run"], frame["frame"]), source)
        merged["frames"] += part["frames"]
        if merged["histograms"] and merged["histograms"].keys() != part["histograms"].keys():
            raise BadData(source, "its histograms are not those of the files before it")
        for name, histogram_part in part["histograms"].items():
            _add(
                merged["histograms"].setdefault(name, _empty_copy(histogram_part)),
                histogram_part,
                name,
                source,
            )
    return merged


def check_frame_order(
    last: tuple[int, int] | None, this: tuple[int, int], source: Path
) -> tuple[int, int]:
    """Return `this` (run, frame) if it comes after `last`.

    Raises:
        BadData: `this` does not come after `last`; the error names `source`.
    """
    if last is not None and this <= last:
        how = (
            "comes a second time"
            if this == last
            else f"comes after frame {last[1]} of run {last[0]}"
        )
        raise BadData(
            source,
            f"frame {this[1]} of run {this[0]} {how}; merge takes frames in order, each once",
        )
    return this


def _empty_copy(original: Histogram) -> Histogram:
    return {**original, "counts": [0] * len(original["counts"]), "underflow": 0, "overflow": 0}


def _add(total: Histogram, part: Histogram, name: str, source: Path) -> None:
    if total["edges"] != part["edges"]:
        raise BadData(source, f"the histogram {name} has other bins than in the files before it")
    total["counts"] = [
        count + other for count, other in zip(total["counts"], part["counts"], strict=True)
    ]
    for outside in ("underflow", "overflow"):
        total[outside] += part[outside]


def write_monitoring(path: Path, monitoring: Monitoring) -> None:
    """Write a monitoring file."""
    write_complete(path, json.dumps(monitoring).encode() + b"\n")


def read_monitoring(path: Path) -> Monitoring:
    """Read a monitoring file.

    Raises:
        MissingInput: The file cannot be opened.
        BadData: The file is no monitoring file of this version.
    """
    content = read_input(path)
    try:
        monitoring = json.loads(content)
        is_valid = (monitoring["format"], monitoring["version"]) == (FORMAT, VERSION)
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(path, "is not a monitoring file") from error
    if not is_valid:
        raise BadData(path, f"is not a monitoring file of version {VERSION}")
    return dict(monitoring)
