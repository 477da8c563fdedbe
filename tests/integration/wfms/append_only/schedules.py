"""The clock of the intake, and its stored schedule."""

from datetime import datetime

import pytest

from tests.integration.wfms.append_only.append_only_chains import FixedClock
from tests.integration.wfms.wfms_fixture import WfmsFixture


@pytest.fixture
def clock(wfms: WfmsFixture) -> FixedClock:
    """Return the clock of the intake."""
    set_clock = FixedClock()
    wfms.databases["wfms.intake"].clock = set_clock
    return set_clock


async def read_schedule(wfms: WfmsFixture) -> tuple[datetime | None, str]:
    (row,) = await wfms.fetch_rows(
        "wfms.intake", "SELECT last_at, came_of_it AS outcome FROM schedules"
    )
    return row["last_at"], row["outcome"]
