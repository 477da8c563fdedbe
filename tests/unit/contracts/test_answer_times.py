"""Bounds of times in contracts: plausible years, and none that PostgreSQL takes for infinity."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sluice.contracts.data.runs import EndTime
from sluice.contracts.human_tasks.annotation import RefusedJob


@pytest.mark.parametrize("year", [358, 2101])
def test_implausible_time_is_refused(year: int) -> None:
    with pytest.raises(ValidationError, match="asked_at"):
        RefusedJob(id=1, reason="It is empty.", asked_at=datetime(year, 6, 1, tzinfo=UTC))


@pytest.mark.parametrize("year", [1, 9999])
def test_time_that_postgresql_takes_for_infinity_is_refused(year: int) -> None:
    with pytest.raises(ValidationError, match="one of the years 2 to 9998"):
        EndTime(ended_at=datetime(year, 1, 1, tzinfo=UTC))
