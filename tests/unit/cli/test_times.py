"""Points in time as commands show them."""

import time
from collections.abc import Iterator

import pytest

from sluice.clientkit.local_times import with_local_start

LOG = """step s, job 3, attempt 1, place 0 in the data set
pilot p
started {started}
command work 1
outcome finished

--- stdout ---
started 2026-05-04T08:11:12.345+00:00

started 2026-05-04T08:11:12.345+00:00
"""


@pytest.fixture(autouse=True)
def in_moscow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "MSK-3")
        time.tzset()
        yield
    time.tzset()


def test_log_shows_the_start_in_local_time_and_keeps_the_tool_output() -> None:
    shown = with_local_start(LOG.format(started="2026-05-04T08:11:12.345+00:00"))
    assert shown == LOG.format(started="2026-05-04 11:11:12 MSK")


@pytest.mark.parametrize("text", ["", "started soon", "started 2026-99-99T00:00", "a\n\nb"])
def test_log_without_a_start_line_stays_unchanged(text: str) -> None:
    assert with_local_start(text) == text
