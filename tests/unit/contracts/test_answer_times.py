"""Times have bounds: those of answers are the bounds of the reports made from them, and no time is
what PostgreSQL takes for infinity."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sluice.contracts.asking import RefusedJob
from sluice.contracts.runs import EndTime


@pytest.mark.parametrize("year", [358, 2101])
def test_time_that_no_clock_shows_is_refused(year: int) -> None:
    with pytest.raises(ValidationError, match="asked_at"):
        RefusedJob(id=1, reason="It is empty.", asked_at=datetime(year, 6, 1, tzinfo=UTC))


@pytest.mark.parametrize("year", [1, 9999])
def test_time_that_the_database_takes_for_infinity_is_refused(year: int) -> None:
    with pytest.raises(ValidationError, match="one of the years 2 to 9998"):
        EndTime(ended_at=datetime(year, 1, 1, tzinfo=UTC))
