"""Print how long the tests of each folder and file take: ``pytest -p tests.durations``.

Processor seconds are those of the test processes and of the processes that they started and that
have ended. Those of PostgreSQL and RabbitMQ, which run until the end, are missing.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import pytest

#: Slowest files that are printed.
_FILES = 60


@dataclass(slots=True)
class _Sum:
    items: set[str] = field(default_factory=set)
    seconds: float = 0.0
    processor_seconds: float = 0.0


class _Clock:
    """The processor seconds used at the end of the last phase of a test."""

    at = 0.0


_sums: dict[str, _Sum] = defaultdict(_Sum)


def pytest_runtest_logstart() -> None:
    _Clock.at = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the processor seconds of the phase to its report, which goes to the main process."""
    report = yield
    now = _processor_seconds()
    report.processor_seconds = now - _Clock.at  # type: ignore[attr-defined]
    _Clock.at = now
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


def _processor_seconds() -> float:
    return sum(os.times()[:4])
