"""The clock of the intake."""

import pytest

from tests.integration.wfms.append_only.append_only_chains import FixedClock
from tests.integration.wfms.wfms_fixture import WfmsFixture


@pytest.fixture
def clock(wfms: WfmsFixture) -> FixedClock:
    """Return the clock of the intake."""
    set_clock = FixedClock()
    wfms.databases["wfms.intake"].clock = set_clock
    return set_clock
