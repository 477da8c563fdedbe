"""Behaviour of the programs: exit codes, error messages, no partial output, fast start."""

import subprocess
import sys
from pathlib import Path

import pytest
from spd import build_events, daq, decode, filter_events, merge, merge_monitoring, verify

RUN_OPTIONS = ["--run", "5", "--frames", "2", "--seed", "9", "--events-per-frame", "5"]


def read_complaint(capsys: pytest.CaptureFixture[str]) -> str:
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_damaged_frame_is_refused_by_name(
    frames: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = frames / "run000012-frame000004.raw"
    assert decode.main([str(raw), "--out", str(tmp_path / "x.hits")]) == 65
    assert read_complaint(capsys).startswith(
        f"spd-decode: {raw}: wrong checksum: the header says CRC "
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--run", "13"], "the frame is of run 12, but its data set is said to be of run 13"),
        (
            ["--period", "2027-A"],
            "the frame is of period 2026-B, but its data set is said to be of 2027-A",
        ),
    ],
)
def test_frame_of_another_run_or_period_is_refused(
    frames: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    reason: str,
) -> None:
    raw = frames / "run000012-frame000001.raw"
    assert decode.main([str(raw), *options, "--out", str(tmp_path / "x.hits")]) == 65
    assert read_complaint(capsys) == f"spd-decode: {raw}: {reason}"


def test_frame_without_period_gets_the_period_of_its_data_set(tmp_path: Path) -> None:
    assert daq.main([*RUN_OPTIONS, "--period", "", "--out", str(tmp_path / "f")]) == 0
    raw = tmp_path / "f" / "run000005-frame000001.raw"
    assert decode.decode(raw.read_bytes(), raw, run=5, period="2026-C").info.period == "2026-C"


@pytest.mark.parametrize(
    "program", [decode, build_events, filter_events, verify, merge, merge_monitoring]
)
def test_missing_input_is_named(
    program: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere"
    extra = ["--histograms", str(tmp_path / "h")] if program is verify else []
    assert program.main([str(missing), "--out", str(tmp_path / "x"), *extra]) == 66  # type: ignore[attr-defined]
    assert f"{missing}: cannot be read (No such file or directory)" in read_complaint(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program", [build_events, filter_events, verify, merge, merge_monitoring])
@pytest.mark.parametrize("kind", ["raw", "nothing", "half", "histograms"])
def test_input_of_another_kind_is_refused(
    program: object,
    kind: str,
    checked: list[Path],
    frames: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    contents = {
        "raw": (frames / "run000012-frame000001.raw").read_bytes(),
        "nothing": b"",
        "half": checked[0].read_bytes()[:900],
        "histograms": b'{"format": "something else"}',
    }
    invalid_file = tmp_path / "wrong"
    invalid_file.write_bytes(contents[kind])
    extra = ["--histograms", str(tmp_path / "h")] if program is verify else []
    assert program.main([str(invalid_file), "--out", str(tmp_path / "x"), *extra]) == 65  # type: ignore[attr-defined]
    assert str(invalid_file) in read_complaint(capsys)
    assert list(tmp_path.iterdir()) == [invalid_file]


def test_hits_are_refused_as_events(
    checked: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hits = checked[0].with_suffix(".hits")
    assert filter_events.main([str(hits), "--out", str(tmp_path / "x")]) == 65
    assert "holds hits of version 1, not events of version 1" in read_complaint(capsys)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "the following arguments are required"),
        ([*RUN_OPTIONS, "--damage", "3"], "frame 3 cannot be damaged: the run has frames 1 to 2"),
        ([*RUN_OPTIONS, "--period", "x" * 17], "is not at most 16 printable ASCII characters"),
        (
            [*RUN_OPTIONS, "--truth", "{out}/t/truth.json"],
            "the truth must not be among the frames",
        ),
        ([*RUN_OPTIONS, "--events-per-frame", "nan"], "nan is not a finite number"),
        ([*RUN_OPTIONS, "--frames", "0"], "0 is below 1"),
        ([*RUN_OPTIONS, "--seed", "two"], "argument --seed: 'two' is not a whole number"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "frames"
    filled = [argument.format(out=out) for argument in arguments]
    assert daq.main([*filled, "--out", str(out)]) == 64
    assert reason in read_complaint(capsys)
    assert list(tmp_path.iterdir()) == []


def test_unwritable_output_is_named(
    frames: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "no folder" / "x.hits"
    assert decode.main([str(frames / "run000012-frame000001.raw"), "--out", str(out)]) == 74
    assert "no folder" in read_complaint(capsys)


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    contents = []
    for name, seed in (("a", "9"), ("b", "9"), ("c", "10")):
        assert daq.main([*RUN_OPTIONS, "--seed", seed, "--out", str(tmp_path / name)]) == 0
        files = sorted((tmp_path / name).iterdir())
        assert [file.name for file in files] == [
            "run000005-frame000001.raw",
            "run000005-frame000002.raw",
        ]
        contents.append([file.read_bytes() for file in files])
    assert contents[0] == contents[1]
    assert contents[0][0] != contents[2][0]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a",
        "a-truth",
        "b",
        "b-truth",
        "c",
        "c-truth",
    ]


def test_steps_start_without_the_root_libraries() -> None:
    modules = (
        "spd.decode, spd.build_events, spd.filter_events, spd.verify, spd.merge_monitoring, spd.daq"
    )
    heavy = "{'uproot', 'awkward', 'scipy', 'pandas'}"
    code = f"import sys, {modules}; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
