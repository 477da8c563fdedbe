"""Fixtures: a short run with a damaged frame, and its checked events."""

from pathlib import Path

import pytest
from spd import build_events, daq, decode, filter_events, verify

RUN = 12
DAMAGED = 4


@pytest.fixture(scope="session")
def frames(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of six frames, the fourth damaged; the truth is in `../truth.json`."""
    folder = tmp_path_factory.mktemp("spd") / "frames"
    options = ["--run", str(RUN), "--frames", "6", "--seed", "1", "--events-per-frame", "30"]
    places = ["--out", str(folder), "--truth", str(folder.parent / "truth.json")]
    assert daq.main([*options, *places, "--damage", str(DAMAGED), "--period", "2026-B"]) == 0
    return folder


@pytest.fixture(scope="session")
def checked(frames: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the checked events of the undamaged frames, with `.histograms` files beside them."""
    folder = tmp_path_factory.mktemp("checked")
    done = []
    for raw in sorted(frames.glob("*.raw")):
        if raw.stem.endswith(f"{DAMAGED:06d}"):
            continue
        hits, events, selected, out, histograms = (
            folder / f"{raw.stem}.{end}"
            for end in ("hits", "events", "selected", "checked", "histograms")
        )
        assert decode.main([str(raw), "--out", str(hits)]) == 0
        assert build_events.main([str(hits), "--out", str(events)]) == 0
        assert filter_events.main([str(events), "--out", str(selected)]) == 0
        assert verify.main([str(selected), "--out", str(out), "--histograms", str(histograms)]) == 0
        done.append(out)
    return done
