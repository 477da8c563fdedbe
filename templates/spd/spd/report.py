"""Figures of merged ROOT files, and their events for a comparison with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uproot

from spd.truth import EventRecord

_EVENT_BRANCHES = (
    "run",
    "frame",
    "event",
    "time_ns",
    "multiplicity",
    "calorimeter_energy_mev",
    "n_hits",
)


@dataclass(frozen=True)
class Summary:
    """Sums over the frames of merged files. A hit has 16 bytes in a raw frame."""

    frames: int
    events_built: int
    events_kept: int
    hits_read: int
    hits_kept: int
    runs: tuple[int, ...]
    periods: tuple[str, ...]


def summarise(paths: Sequence[Path]) -> Summary:
    """Return sums over the `frames` trees of merged ROOT files."""
    totals = dict.fromkeys(("events_built", "events_kept", "hits_read", "hits_kept"), 0)
    frames = 0
    runs: set[int] = set()
    periods: set[str] = set()
    for path in paths:
        with uproot.open(path) as root:
            columns = root["frames"].arrays(["run", "period", *totals], library="np")
        frames += len(columns["run"])
        runs.update(columns["run"].tolist())
        periods.update(columns["period"].tolist())
        for name in totals:
            totals[name] += int(columns[name].sum())
    return Summary(
        frames=frames, runs=tuple(sorted(runs)), periods=tuple(sorted(periods)), **totals
    )


def read_events(paths: Sequence[Path]) -> list[EventRecord]:
    """Return all events of merged ROOT files, in the order of files and entries."""
    events: list[EventRecord] = []
    for path in paths:
        with uproot.open(path) as root:
            columns = root["events"].arrays(_EVENT_BRANCHES, library="np")
        rows = zip(*(columns[name].tolist() for name in _EVENT_BRANCHES), strict=True)
        events += [EventRecord(*row) for row in rows]
    return events
