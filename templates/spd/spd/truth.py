"""What the simulation knows and no step sees: the true events of a run, in one JSON file beside the
frames' folder.

`{format, version, run, period, seed, damaged_frames: [n], frames: [{frame, start_time_ns, hits,
events: [{time_ns, multiplicity, energy_mev, hits}]}]}`; an event's `time_ns` is that of its first
hit since the frame's start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pack_command import write_complete

from spd.build_events import DEFAULT_MIN_HITS
from spd.filter_events import DEFAULT_MIN_CALORIMETER_ENERGY, DEFAULT_MIN_MULTIPLICITY
from spd.simulation import TrueEvents

FORMAT = "spd-truth"
VERSION = 1


class EventRecord(NamedTuple):
    """One event, as known from the truth or as read from a ROOT file: the two compare equal.

    `event` counts the events of the frame from 0, `time_ns` is the first hit's time in ns since
    1970 UTC.
    """

    run: int
    frame: int
    event: int
    time_ns: int
    multiplicity: int
    energy_mev: float
    n_hits: int


def frame_truth(frame: int, start_time_ns: int, hits: int, events: TrueEvents) -> dict[str, Any]:
    """One entry of `frames`."""
    columns = (events.time_ns, events.multiplicity, events.energy_mev, events.hits)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    names = ("time_ns", "multiplicity", "energy_mev", "hits")
    return {
        "frame": frame,
        "start_time_ns": start_time_ns,
        "hits": hits,
        "events": [dict(zip(names, row, strict=True)) for row in rows],
    }


def write_truth(path: Path, truth: Mapping[str, Any]) -> None:
    """Write a run's truth, all of it or nothing."""
    write_complete(
        path, json.dumps({"format": FORMAT, "version": VERSION, **truth}, indent=1).encode() + b"\n"
    )


def read_truth(path: Path) -> dict[str, Any]:
    """A run's truth; raises ValueError where `path` holds something else."""
    truth: dict[str, Any] = json.loads(path.read_text())
    if (truth.get("format"), truth.get("version")) != (FORMAT, VERSION):
        raise ValueError(f"{path} is not a truth file of version {VERSION}")
    return truth


def expected_events(
    truth_file: Path,
    *,
    min_hits: int = DEFAULT_MIN_HITS,
    min_multiplicity: int = DEFAULT_MIN_MULTIPLICITY,
    min_calorimeter_energy: float = DEFAULT_MIN_CALORIMETER_ENERGY,
    damaged: bool = False,
) -> list[EventRecord]:
    """The events that must survive the filter, in order; those of damaged frames only if
    `damaged`."""
    truth = read_truth(truth_file)
    left_out = set() if damaged else set(truth["damaged_frames"])
    expected = []
    for frame in truth["frames"]:
        if frame["frame"] in left_out:
            continue
        built = [event for event in frame["events"] if event["hits"] >= min_hits]
        for number, event in enumerate(built):
            if (
                event["multiplicity"] < min_multiplicity
                or event["energy_mev"] < min_calorimeter_energy
            ):
                continue
            expected.append(
                EventRecord(
                    run=truth["run"],
                    frame=frame["frame"],
                    event=number,
                    time_ns=frame["start_time_ns"] + event["time_ns"],
                    multiplicity=event["multiplicity"],
                    energy_mev=event["energy_mev"],
                    n_hits=event["hits"],
                )
            )
    return expected
