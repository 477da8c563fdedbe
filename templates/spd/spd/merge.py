"""`spd-merge` joins the verified events of many frames into one ROOT file.

The tree `events` has one entry for each event, with its hits as arrays. The tree `frames` has one
entry for each frame, also for frames without events. `EVENTS` and `FRAMES` list the branches.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

from sluice.packs.programs import Parser, run_command
from spd.blocks import EventBlock, read_events
from spd.detector import Subdetector, channel_number, subdetector
from spd.histograms import check_frame_order
from spd.quantities import event_indices

CUTS = ("time_gap_ns", "min_hits", "min_multiplicity", "min_calorimeter_energy_mev")
FRAMES: dict[str, Any] = {
    "run": np.dtype("i4"),
    "period": "string",
    "frame": np.dtype("i4"),
    "start_time_ns": np.dtype("i8"),
    "length_ns": np.dtype("i8"),
    "hits_read": np.dtype("i8"),
    "hits_kept": np.dtype("i8"),
    "events_built": np.dtype("i4"),
    "events_kept": np.dtype("i4"),
    **dict.fromkeys(CUTS, np.dtype("f8")),
}
EVENTS: dict[str, Any] = {
    "run": np.dtype("i4"),
    "frame": np.dtype("i4"),
    "event": np.dtype("i4"),
    "time_ns": np.dtype("i8"),
    "multiplicity": np.dtype("i4"),
    "calorimeter_energy_mev": np.dtype("f8"),
    "n_hits": np.dtype("i4"),
    **{f"n_{part.name.lower()}": np.dtype("i4") for part in Subdetector},
    "hit": "var * {subdetector: uint8, channel: uint32, time_ns: int32, amplitude: uint32}",
}
FILES_AT_ONCE = 100
"""The number of frames in memory, which are written together. Any number of parts is possible."""


def merge(parts: Sequence[Path], out: Path) -> None:
    """Write the ROOT file `out` from event files in the order of their frames.

    After an error there is no file.

    Raises:
        BadData: A part is damaged, repeated or out of order.
        MissingInput: A part cannot be opened.
    """
    partial = out.with_name(f".{out.name}.part")
    try:
        with uproot.recreate(partial) as root:
            events = root.mktree("events", EVENTS, title="Events kept by the online filter")
            frames = root.mktree("frames", FRAMES, title="Frames of data taking")
            blocks = _read_in_order(parts)
            while batch := list(islice(blocks, FILES_AT_ONCE)):
                frames.extend(_frame_columns(batch))
                events.extend(_event_columns(batch))
        partial.replace(out)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _read_in_order(parts: Iterable[Path]) -> Iterator[EventBlock]:
    last: tuple[int, int] | None = None
    for path in parts:
        block = read_events(path)
        last = check_frame_order(last, (block.info.run, block.info.frame), path)
        yield block


def _frame_columns(blocks: Sequence[EventBlock]) -> dict[str, Any]:
    infos = [block.info for block in blocks]
    columns: dict[str, Any] = {
        name: np.array([getattr(info, name) for info in infos], dtype=dtype)
        for name, dtype in FRAMES.items()
        if name not in ("period", "hits_kept", *CUTS)
    }
    columns["period"] = ak.Array([info.period for info in infos])
    columns["hits_kept"] = np.array([len(block.hits) for block in blocks], dtype="i8")
    for name in CUTS:
        columns[name] = np.array([info.cuts.get(name, np.nan) for info in infos])
    return columns


def _event_columns(blocks: Sequence[EventBlock]) -> dict[str, Any]:
    hits = np.concatenate([block.hits for block in blocks])
    sizes = np.concatenate([block.sizes for block in blocks])
    events = [len(block.number) for block in blocks]
    start = np.repeat([block.info.start_time_ns for block in blocks], events)
    first = np.concatenate([block.time_ns for block in blocks])
    part = subdetector(hits["channel"])
    event_index = event_indices(np.concatenate(([0], np.cumsum(sizes))))
    columns: dict[str, Any] = {
        "run": np.repeat([block.info.run for block in blocks], events),
        "frame": np.repeat([block.info.frame for block in blocks], events),
        "event": np.concatenate([block.number for block in blocks]),
        "time_ns": start + first,
        "multiplicity": np.concatenate([block.multiplicity for block in blocks]),
        "calorimeter_energy_mev": np.concatenate([block.energy_mev for block in blocks]),
        "n_hits": sizes,
        **{
            f"n_{detector.name.lower()}": np.bincount(
                event_index[part == detector], minlength=len(sizes)
            )
            for detector in Subdetector
        },
    }
    typed: dict[str, Any] = {name: column.astype(EVENTS[name]) for name, column in columns.items()}
    fields = {
        "subdetector": part.astype("u1"),
        "channel": channel_number(hits["channel"]).astype("u4"),
        "time_ns": (hits["time"].astype(np.int64) - first[event_index]).astype("i4"),
        "amplitude": hits["amplitude"].astype("u4"),
    }
    typed["hit"] = ak.zip({name: ak.unflatten(values, sizes) for name, values in fields.items()})
    return typed


def _work(arguments: argparse.Namespace) -> None:
    merge(arguments.parts, arguments.out)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `spd-merge` and return its exit code."""
    parser = Parser(
        prog="spd-merge", description="Join the events of many frames into one ROOT file."
    )
    parser.add_argument(
        "parts",
        type=Path,
        nargs="+",
        help="Event files that spd-verify wrote, in the order of their frames",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="ROOT file to write"
    )
    return run_command(parser, _work, argv)
