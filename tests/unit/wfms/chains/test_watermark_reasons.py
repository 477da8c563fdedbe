"""Reason for higher ranks at a high watermark."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage, Watermarks
from wfms.chains.domain.watermark_reasons import describe_reason

BUFFER = Storage(
    id=UUID(int=1),
    name="buffer",
    type=StorageType.INPUT,
    url="file:///buffer",
    enabled=True,
    used=0,
)


@pytest.mark.parametrize(
    ("high", "capacity", "watermark"),
    [
        (0.8, 1000, "80 % of 1000 bytes"),
        (1.0, 1000, "100 % of 1000 bytes"),
        (0.8, None, "80 % of its capacity"),
        (900.0, 1000, "900 bytes"),
        (9.0, None, "9 bytes"),
    ],
)
def test_reason_shows_the_watermark_as_it_was_set(
    high: float, capacity: int | None, watermark: str
) -> None:
    start = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    marks = Watermarks(low=high / 2, high=high)
    storage = BUFFER.model_copy(
        update={"capacity": capacity, "marks": marks, "filling_since": start}
    )
    reason = (
        "storage buffer, which has the chain's input, reached its high watermark"
        f" ({watermark}) at 2026-01-02 03:04:05 UTC"
    )
    assert describe_reason(storage) == reason
