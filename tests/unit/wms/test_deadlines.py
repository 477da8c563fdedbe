"""Deadlines of jobs whose pilot renews the lease."""

from dataclasses import replace

import pytest

from sluice.contracts.common.states import AttemptPhase
from wms.domain.deadlines import (
    IMAGE_SECONDS,
    STAGING_SECONDS,
    Allowance,
    AttemptDuration,
    describe_overrun,
)

HOUR = Allowance(time_limit=3600.0, entries=1, in_container=False, grace=300.0)


@pytest.mark.parametrize(
    ("allowed", "size", "seconds"),
    [
        (HOUR, 0, 3600 + STAGING_SECONDS + 300),
        (HOUR, 500_000_000, 3600 + STAGING_SECONDS + 500 + 300),
        (replace(HOUR, entries=10), 0, 36_000 + STAGING_SECONDS + 300),
        (replace(HOUR, in_container=True), 0, 3600 + STAGING_SECONDS + IMAGE_SECONDS + 300),
        (replace(HOUR, time_limit=1.0, grace=5.0), 1_000_000, 1 + STAGING_SECONDS + 1 + 5),
    ],
)
def test_deadline_is_the_sum_of_time_limit_staging_and_grace(
    allowed: Allowance, size: int, seconds: float
) -> None:
    assert describe_overrun(AttemptDuration(True, seconds, size), allowed) is None
    assert describe_overrun(AttemptDuration(True, seconds + 1, size), allowed) is not None


def test_running_job_without_time_limit_has_no_deadline() -> None:
    endless = replace(HOUR, time_limit=0.0)
    assert describe_overrun(AttemptDuration(True, 1e9), endless) is None
    assert (
        describe_overrun(AttemptDuration(False, 301.0), endless)
        == "kept it for 301 s without starting it"
    )


def test_deadline_message_has_the_numbers_and_the_last_phase() -> None:
    sentence = describe_overrun(
        AttemptDuration(True, 5000.0, 12_000_000, AttemptPhase.STAGE_OUT), HOUR
    )
    assert (
        sentence
        == "kept it for 5000 s, beyond its time limit of 3600 s, 72 s for its files and 300 s of"
        " grace; it was storing its outputs"
    )
    batch = describe_overrun(AttemptDuration(True, 50_000.0), replace(HOUR, entries=10))
    assert batch is not None
    assert "its time limit of 3600 s for each of 10 entries" in batch
