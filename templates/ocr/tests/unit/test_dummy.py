"""Dummy stages that take a configured time."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ocr import dummy, dummy_pages
from ocr.dummy_pages import Clock

from sluice.cwl import compile_file

PACK = Path(__file__).parents[2]

Seconds = st.floats(0, 1000)


@given(Seconds, Seconds, Seconds, st.integers())
def test_duration_is_the_scaled_size_plus_a_difference_and_never_negative(
    size: float, scale: float, difference: float, seed: int
) -> None:
    duration = dummy.duration(size, scale, difference, Random(seed))
    assert duration >= 0
    assert size * scale - difference <= duration <= size * scale + difference


def test_differences_are_uniform_in_both_directions() -> None:
    random = Random(1)
    durations = [dummy.duration(2, 10, 4, random) for _ in range(4000)]
    assert sum(durations) / len(durations) == pytest.approx(20, abs=0.2)
    assert sum(16 <= one < 18 for one in durations) == pytest.approx(1000, abs=100)
    assert sum(22 <= one < 24 for one in durations) == pytest.approx(1000, abs=100)


def _draw_pages(folder: Path, *options: str, clock: Clock | None = None) -> list[Path]:
    assert dummy_pages.main(["--out", str(folder), *options], clock=clock or Clock()) == 0
    return sorted(folder.iterdir())


def _run(
    page: Path, out: Path, *options: str, sleep: Callable[[float], None] = lambda seconds: None
) -> int:
    return dummy.main([str(page), "--stage", "s", "--out", str(out), *options], sleep=sleep)


def test_stage_waits_for_its_duration_and_records_it(tmp_path: Path) -> None:
    waited: list[float] = []
    [page] = _draw_pages(tmp_path / "pages", "--pages", "1", "--size", "3", "3")
    options = ["--scale", "20", "--difference", "5", "--faster", "10"]
    assert _run(page, tmp_path / "a", *options, sleep=waited.append) == 0
    assert _run(tmp_path / "a", tmp_path / "b", "--scale", "2", sleep=waited.append) == 0
    done: dict[str, Any] = json.loads((tmp_path / "b").read_text())
    assert [stage["seconds"] for stage in done["stages"]] == [
        pytest.approx(waited[0] * 10, abs=0.001),
        6,
    ]
    assert 5.5 <= waited[0] <= 6.5
    assert waited[1] == 6
    assert _run(page, tmp_path / "again", *options, sleep=waited.append) == 0
    assert waited[2] == waited[0]
    assert _run(page, tmp_path / "other", *options, "--seed", "2", sleep=waited.append) == 0
    assert waited[3] != waited[0]


def test_page_sizes_are_in_the_requested_range(tmp_path: Path) -> None:
    pages = _draw_pages(tmp_path / "pages", "--pages", "20", "--size", "1", "2")
    sizes = [json.loads(page.read_text())["size"] for page in pages]
    assert all(1 <= size <= 2 for size in sizes)
    assert len({*sizes}) > 10


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"size": -1}', '{"size": true}'])
def test_invalid_page_is_refused(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "page").write_text(content)
    assert _run(tmp_path / "page", tmp_path / "out") == 65
    assert "this is not a page of ocr-dummy-pages" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--scale=-1", "--difference=-1", "--faster=0", "--scale=nan"])
def test_impossible_times_are_refused(option: str, tmp_path: Path) -> None:
    [page] = _draw_pages(tmp_path / "pages", "--pages", "1")
    assert _run(page, tmp_path / "out", option) == 64


@pytest.mark.parametrize("size", [("2", "1"), ("-1", "1")])
def test_impossible_sizes_are_refused(size: tuple[str, str], tmp_path: Path) -> None:
    options = ["--out", str(tmp_path / "x"), "--pages", "1", "--size", *size]
    assert dummy_pages.main(options) == 64


def test_series_are_written_at_a_fixed_period(tmp_path: Path) -> None:
    times = [100.0]
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        times[0] += seconds + 1  # writing a series takes another second

    options = ["--pages", "2", "--size", "1", "9", "--repeat", "3", "--period", "220"]
    series = _draw_pages(tmp_path / "x", *options, clock=Clock(lambda: times[0], wait))
    assert waited == [220, 219]
    assert [one.name for one in series] == ["series-0001", "series-0002", "series-0003"]
    sizes = [json.loads(page.read_text())["size"] for one in series for page in one.iterdir()]
    assert len({*sizes}) == 6


@pytest.mark.parametrize("options", [["--repeat", "0"], ["--period=-1"], ["--period=nan"]])
def test_impossible_series_are_refused(options: list[str], tmp_path: Path) -> None:
    assert dummy_pages.main(["--out", str(tmp_path / "x"), "--pages", "1", *options]) == 64


def test_series_that_cannot_be_registered_end_the_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLUICE_HOME", str(tmp_path / "no-system"))
    options = ["--pages", "1", "--repeat", "2", "--register", "load"]
    assert dummy_pages.main(["--out", str(tmp_path / "x"), *options]) == 69
    assert not (tmp_path / "x" / "series-0002").exists()
    assert "series-0001: the series was written but not registered" in capfd.readouterr().err


def test_dummy_workflow_has_three_stages() -> None:
    compiled, _ = compile_file(PACK / "dummy.cwl", name="dummy")
    assert compiled.findings == []
    assert compiled.plan is not None
    assert [step.name for step in compiled.plan.steps] == ["first", "second", "third"]
