"""Merging keeps all events in order, and refuses frames that are out of order."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import uproot
from spd import merge, merge_monitoring
from spd.blocks import FrameInfo, HitBlock, read_events, write_events
from spd.build_events import build_events
from spd.detector import HIT
from spd.report import read_events as read_root_events
from spd.report import summarise
from spd.truth import expected_events, read_truth


def merge_parts(parts: list[Path], out: Path) -> Path:
    assert merge.main([*map(str, parts), "--out", str(out)]) == 0
    return out


def test_root_file_contains_the_expected_events_in_order(
    checked: list[Path], frames: Path, tmp_path: Path
) -> None:
    events = read_root_events([merge_parts(checked, tmp_path / "all.root")])
    expected = expected_events(frames.parent / "truth.json")
    assert len(events) >= 10
    assert events == expected


def test_several_merged_files_contain_the_same_events_as_one(
    checked: list[Path], tmp_path: Path
) -> None:
    whole = merge_parts(checked, tmp_path / "all.root")
    halves = [
        merge_parts(checked[:2], tmp_path / "1.root"),
        merge_parts(checked[2:], tmp_path / "2.root"),
    ]
    assert read_root_events(halves) == read_root_events([whole])
    assert summarise(halves) == summarise([whole])


def test_merge_in_batches_gives_the_same_file(
    checked: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = merge_parts(checked, tmp_path / "all.root")
    monkeypatch.setattr(merge, "FILES_AT_ONCE", 2)
    assert read_root_events([merge_parts(checked, tmp_path / "batched.root")]) == read_root_events(
        [whole]
    )


def test_summary_counts_frames_events_and_hits(
    checked: list[Path], frames: Path, tmp_path: Path
) -> None:
    truth = read_truth(frames.parent / "truth.json")
    whole = [frame for frame in truth["frames"] if frame["frame"] not in truth["damaged_frames"]]
    summary = summarise([merge_parts(checked, tmp_path / "all.root")])
    assert summary.frames == len(whole) == 5
    assert summary.events_built == sum(len(frame["events"]) for frame in whole)
    assert summary.events_kept == len(expected_events(frames.parent / "truth.json"))
    assert summary.hits_read == sum(frame["hits"] for frame in whole)
    assert 0 < summary.hits_kept < summary.hits_read
    assert (summary.runs, summary.periods) == ((12,), ("2026-B",))


def test_hits_and_metadata_are_in_the_trees(checked: list[Path], tmp_path: Path) -> None:
    with uproot.open(merge_parts(checked, tmp_path / "all.root")) as root:
        events, frames = root["events"].arrays(library="np"), root["frames"].arrays(library="np")
        assert root["events"].classname == "TTree"
    first = read_events(checked[0])
    assert events["nhit"].tolist() == events["n_hits"].tolist()
    assert events["hit_amplitude"][0].tolist() == first.hits["amplitude"][: first.sizes[0]].tolist()
    assert events["hit_time_ns"][0][0] == 0
    per_part = sum(
        events[f"n_{part}"] for part in ("vertex", "straw", "tof", "calorimeter", "muon")
    )
    assert per_part.tolist() == events["n_hits"].tolist()
    assert frames["frame"].tolist() == [1, 2, 3, 5, 6]
    assert frames["start_time_ns"][0] == first.info.start_time_ns
    assert frames["min_calorimeter_energy_mev"].tolist() == [1500.0] * 5


def test_frames_without_events_are_merged(tmp_path: Path) -> None:
    nothing = HitBlock(FrameInfo(1, 1, "", 0, 1_000, hits_read=0), np.zeros(0, dtype=HIT))
    part = tmp_path / "empty.checked"
    write_events(part, build_events(nothing, time_gap_ns=110, min_hits=6))
    out = merge_parts([part], tmp_path / "empty.root")
    assert read_root_events([out]) == []
    assert summarise([out]).frames == 1
    with uproot.open(out) as root:
        assert np.isnan(root["frames"]["min_multiplicity"].array(library="np")).all()


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ([1, 0], "frame 1 of run 12 comes after frame 2 of run 12"),
        ([0, 0], "frame 1 of run 12 comes a second time"),
    ],
)
def test_frames_out_of_order_or_twice_are_refused(
    checked: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    order: list[int],
    reason: str,
) -> None:
    parts = [str(checked[index]) for index in order]
    assert merge.main([*parts, "--out", str(tmp_path / "x.root")]) == 65
    histograms = [str(checked[index].with_suffix(".histograms")) for index in order]
    assert merge_monitoring.main([*histograms, "--out", str(tmp_path / "x.json")]) == 65
    complaints = capsys.readouterr().err.splitlines()
    assert [reason in complaint for complaint in complaints] == [True, True]
    assert list(tmp_path.iterdir()) == []


def test_next_run_may_begin_again_with_frame_one(checked: list[Path], tmp_path: Path) -> None:
    block = read_events(checked[0])
    later = tmp_path / "later.checked"
    write_events(later, replace(block, info=replace(block.info, run=13)))
    assert summarise([merge_parts([checked[-1], later], tmp_path / "two.root")]).runs == (12, 13)


def test_monitoring_histograms_are_added_up(checked: list[Path], tmp_path: Path) -> None:
    parts = [path.with_suffix(".histograms") for path in checked]
    out = tmp_path / "all.json"
    assert merge_monitoring.main([*map(str, parts), "--out", str(out)]) == 0
    total = json.loads(out.read_text())
    single = [json.loads(part.read_text()) for part in parts]
    assert [frame["frame"] for frame in total["frames"]] == [1, 2, 3, 5, 6]
    for name, one in total["histograms"].items():
        counts = np.sum([part["histograms"][name]["counts"] for part in single], axis=0)
        assert one["counts"] == counts.tolist()
        assert one["overflow"] == sum(part["histograms"][name]["overflow"] for part in single)


def test_histograms_with_different_bins_are_refused(
    checked: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = json.loads(checked[1].with_suffix(".histograms").read_text())
    other["histograms"]["multiplicity"]["edges"][-1] += 1
    strange = tmp_path / "strange.histograms"
    strange.write_text(json.dumps(other))
    parts = [str(checked[0].with_suffix(".histograms")), str(strange)]
    assert merge_monitoring.main([*parts, "--out", str(tmp_path / "x.json")]) == 65
    assert "the histogram multiplicity has other bins" in capsys.readouterr().err
