"""Simulated old computers that die and misbehave."""

from pathlib import Path
from random import Random

import pytest
from collage.computers import JITTER, MAX_DELAY, MIN_DELAY, OldComputer
from collage.gateway import Statistics
from collage.workers import Worker, main, print_statistics

from sluice.clientkit.output import out


def make_computer(*, factor: float = 1.0, speed_up: float = 1.0) -> OldComputer:
    return OldComputer("old-1", Random(3), factor=factor, speed_up=speed_up)


def test_each_computer_has_its_own_delay_and_its_jobs_differ_slightly() -> None:
    random = Random(1)
    old = [OldComputer("old", Random(random.random())) for _ in range(50)]
    assert {one.delay for one in old} == set(range(MIN_DELAY, MAX_DELAY + 1)), (
        "delays are whole seconds"
    )
    for one in old:
        assert MIN_DELAY <= one.delay <= MAX_DELAY
        times = [one.job_seconds() for _ in range(20)]
        assert len(set(times)) == len(times)
        assert all(abs(seconds - one.delay) <= JITTER for seconds in times)


@pytest.mark.parametrize(
    ("options", "status", "why"),
    [
        (["--workers", "0"], 64, "0 is below 1"),
        (["--speed-up", "0"], 64, "0 is not above 0"),
        (["--speed-up", "nan"], 64, "not a finite number"),
        (["--factor", "-1"], 64, "-1 is below 0"),
        (["--wms-url", "nonsense"], 64, "'nonsense' is not an address"),
        (["--token", "/no/such/file"], 66, "/no/such/file: cannot be read"),
        (["--home", "/proc/none"], 74, "/proc/none"),
    ],
)
def test_impossible_options_are_refused_in_one_line(
    options: list[str], status: int, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--wms-url", "http://127.0.0.1:1", "--home", str(tmp_path), *options]) == status
    stderr = capsys.readouterr().err
    assert why in stderr
    assert stderr.count("\n") == 1


def test_statistics_of_all_workers_are_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(out, "_width", 120)
    counts = {
        "old-1": Statistics(finished=3, failed=1, too_late=2, seconds=4.5),
        "old-2": Statistics(),
    }
    print_statistics(
        [
            Worker(
                OldComputer(name, Random(3)), tmp_path, "", 60.0, fate="died", statistics=statistics
            )
            for name, statistics in counts.items()
        ]
    )
    heads, first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert " ".join(heads).endswith("finished failed too late seconds a job fate")
    delay = str(make_computer().delay)
    assert first == ["old-1", "none", delay, "3", "1", "2", "1.50", "died"]
    assert second == ["old-2", "none", delay, "0", "0", "0", "–", "died"]


def test_equal_seeds_give_equal_computers() -> None:
    assert [make_computer().job_seconds() for _ in range(2)] == [make_computer().job_seconds()] * 2


@pytest.mark.parametrize(("factor", "share"), [(0.0, 0.0), (1.0, 0.05), (2.0, 0.1)])
@pytest.mark.parametrize("speed_up", [1.0, 10.0])
def test_computer_dies_with_the_specified_probability(
    factor: float, share: float, speed_up: float
) -> None:
    old = make_computer(factor=factor, speed_up=speed_up)
    looks = 20_000
    died = sum(old.dies(old.check_seconds) for _ in range(looks))
    assert died / looks == pytest.approx(share, abs=0.01)


def test_speed_up_shortens_jobs_and_checks() -> None:
    slow, quick = make_computer(), make_computer(speed_up=10.0)
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
def test_unknown_misbehaviour_is_refused(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--wms-url", "http://127.0.0.1:1", "--home", str(tmp_path), "--misbehave", text]
    assert main(arguments) == 64
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
