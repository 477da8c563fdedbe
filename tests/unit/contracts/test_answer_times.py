"""Times of answers keep the bounds of the reports that are made from them."""

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sluice.contracts.asking import RefusedJob


@pytest.mark.parametrize("year", [358, 2101])
def test_time_that_no_clock_shows_is_refused(year: int) -> None:
    with pytest.raises(ValidationError, match="asked_at"):
        RefusedJob(id=1, reason="It is empty.", asked_at=datetime(year, 6, 1, tzinfo=UTC))
