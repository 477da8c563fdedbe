"""Print how long the tests of each folder and file take: ``pytest -p tests.durations``.

Processor seconds are those of the test processes and of all processes below them, such as
PostgreSQL and whole systems. A test that follows within a second of the last measurement is counted
with the next one.
"""

import os
import time
from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import psutil
import pytest

#: Seconds between two measurements, because each reads the state of a hundred processes.
_PAUSE = 1.0
#: Slowest files that are printed.
_FILES = 60


@dataclass(slots=True)
class _Sum:
    items: set[str] = field(default_factory=set)
    seconds: float = 0.0
    processor_seconds: float = 0.0


class _LastMeasurement:
    """The time of the last measurement, and the processor seconds until then."""

    time = 0.0
    processor_seconds = 0.0


_sums: dict[str, _Sum] = defaultdict(_Sum)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the new processor seconds to the report, which goes to the main process."""
    report = yield
    if time.monotonic() - _LastMeasurement.time > _PAUSE:
        processor_seconds = _measure_processor_seconds()
        if _LastMeasurement.time:
            new_seconds = processor_seconds - _LastMeasurement.processor_seconds
            report.processor_seconds = new_seconds  # type: ignore[attr-defined]
        _LastMeasurement.processor_seconds = processor_seconds
        _LastMeasurement.time = time.monotonic()
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    path = PurePosixPath(report.nodeid.partition("::")[0])
    for key in (f"{path.parent}/", str(path)):
        total = _sums[key]
        total.items.add(report.nodeid)
        # The test contains its subtests.
        if not isinstance(report, pytest.SubtestReport):
            total.seconds += report.duration
        total.processor_seconds += getattr(report, "processor_seconds", 0.0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    folders = {key: total for key, total in _sums.items() if key.endswith("/")}
    files = {key: total for key, total in _sums.items() if not key.endswith("/")}
    for title, sums in (("folders", folders), (f"slowest {_FILES} files", files)):
        terminalreporter.section(f"durations of the {title}")
        terminalreporter.write_line("  seconds  processor  items")
        slowest = sorted(sums.items(), key=lambda pair: -pair[1].seconds)
        for key, total in slowest if sums is folders else slowest[:_FILES]:
            terminalreporter.write_line(
                f"{total.seconds:9.1f}{total.processor_seconds:11.1f}{len(total.items):7}  {key}"
            )


def _measure_processor_seconds() -> float:
    """Return the seconds of this process, of ended processes below it, and of running ones."""
    seconds = sum(os.times()[:4])
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds
