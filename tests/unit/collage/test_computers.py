"""Old computers, as the source describes them."""

from pathlib import Path
from random import Random

import pytest
from collage.computers import JITTER, LONGEST, SHORTEST, OldComputer
from collage.workers import main


def computer(*, factor: float = 1.0, speed_up: float = 1.0) -> OldComputer:
    return OldComputer("old-1", Random(3), factor=factor, speed_up=speed_up)


def test_each_has_a_delay_of_its_own_and_jobs_differ_a_little() -> None:
    random = Random(1)
    old = [OldComputer("old", Random(random.random())) for _ in range(50)]
    assert len({one.delay for one in old}) == len(old)
    for one in old:
        assert SHORTEST <= one.delay <= LONGEST
        times = [one.job_seconds() for _ in range(20)]
        assert len(set(times)) == len(times)
        assert all(abs(seconds - one.delay) <= JITTER for seconds in times)


def test_the_same_seed_is_the_same_computer() -> None:
    assert [computer().job_seconds() for _ in range(2)] == [computer().job_seconds()] * 2


@pytest.mark.parametrize(("factor", "share"), [(0.0, 0.0), (1.0, 0.05), (2.0, 0.1)])
@pytest.mark.parametrize("speed_up", [1.0, 10.0])
def test_it_dies_with_the_chance_factor_times_seconds_over_a_hundred(
    factor: float, share: float, speed_up: float
) -> None:
    old = computer(factor=factor, speed_up=speed_up)
    looks = 20_000
    died = sum(old.dies(old.check_seconds) for _ in range(looks))
    assert died / looks == pytest.approx(share, abs=0.01)


def test_time_runs_faster_for_all_of_it() -> None:
    slow, quick = computer(), computer(speed_up=10.0)
    assert quick.job_seconds() == pytest.approx(slow.job_seconds() / 10)
    assert quick.check_seconds == pytest.approx(slow.check_seconds / 10)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("3", "--misbehave takes NUMBER=WAY"),
        ("3=sleepy", "with a way of none, silent, garbled"),
        ("x=late", "--misbehave takes NUMBER=WAY"),
        ("9=late", "there are workers 1 to 8"),
    ],
)
def test_a_way_to_misbehave_that_there_is_not_is_said(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--wms-url", "http://127.0.0.1:1", "--home", str(tmp_path), "--misbehave", text]
    assert main(arguments) == 64
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
