"""Set up each run of pytest, and group and order its tests.

This plugin also applies to the tests of the packs, which have no `conftest.py` above them.
"""

import os
import signal

import pytest
import structlog

from sluice.process.garbage_collection import freeze_loaded_objects
from tests.draws import use_derandomized_profile
from tests.guard import start_guard
from tests.needs import deselect_tests, report_missing_needs

#: Folders of long tests, in the order in which they start. Short tests run after them.
LONG = (
    "faults",
    "e2e",
    "differential",
    "wheel",
    "deploy",
    "cwl_runner",
    "conformance",
    "integration",
)

use_derandomized_profile()
# By default structlog prints all variables of a traceback, which takes seconds.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        ),
    ]
)


def pytest_configure() -> None:
    """Make SIGTERM and SIGINT end a run, and remove the settings of the user's own system.

    A shell that starts the tests in the background makes them ignore SIGINT. After SIGKILL, the
    guard ends the processes of the run.
    """
    for name in ("SLUICE_URL", "SLUICE_HOME", "SLUICE_TOKEN", "SLUICE_TOKEN_FILE"):
        os.environ.pop(name, None)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        start_guard()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests of a module in one process, so that they share its fixtures."""
    deselect_tests(config, items)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(
        key=lambda item: next(
            (n for n, folder in enumerate(LONG) if folder in item.path.parts), len(LONG)
        )
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    report_missing_needs(terminalreporter)


def pytest_collection_finish() -> None:
    freeze_loaded_objects()
