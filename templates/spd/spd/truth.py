"""The true events of a run, in one JSON file that no processing step sees.

`{format, version, run, period, seed, damaged_frames: [n], frames: [{frame, start_time_ns, hits,
events: [{time_ns, multiplicity, energy_mev, hits}]}]}`. The `time_ns` of an event is the time of
its first hit since the frame's start.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sluice.packs.programs import write_complete
from spd.build_events import DEFAULT_MIN_HITS
from spd.filter_events import DEFAULT_MIN_CALORIMETER_ENERGY, DEFAULT_MIN_MULTIPLICITY
from spd.simulation import TrueEvents

FORMAT = "spd-truth"
VERSION = 1


class EventRecord(NamedTuple):
    """One event, from the truth or from a ROOT file, so that both can be compared.

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
    """Return the entry of `frames` for one frame."""
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
    """Write the truth of a run, so that no reader sees an incomplete file."""
    write_complete(
        path, json.dumps({"format": FORMAT, "version": VERSION, **truth}, indent=1).encode() + b"\n"
    )


def read_truth(path: Path) -> dict[str, Any]:
    """Return the truth of a run.

    Raises:
        ValueError: `path` is no truth file of this version.
    """
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
    """Return the events that must pass the filter, in order.

    Events of damaged frames are included only if `damaged` is true.
    """
    truth = read_truth(truth_file)
    excluded_frames = set() if damaged else set(truth["damaged_frames"])
    expected = []
    for frame in truth["frames"]:
        if frame["frame"] in excluded_frames:
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
