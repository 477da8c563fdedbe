"""Jobs that exceeded their memory request more."""

from sluice.contracts.common.states import (
    AttemptOutcome,
    ErrorClass,
)
from sluice.contracts.jobs.needs import Resources
from tests.integration.wms.wms_fixture import WmsFixture, make_task


async def test_next_attempt_asks_for_more_memory_than_was_used(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await wms.add_pilot(ram=16_000)
    (job,) = await wms.lease(pilot)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=1030.0
    )
    await wms.report(pilot, report)
    (retried_job,) = await wms.lease(pilot)
    assert (retried_job.attempt, retried_job.ram) == (2, 1545)
    assert (await wms.status(task)).failed_attempts == 1


async def test_out_of_memory_asks_for_a_larger_node(wms: WmsFixture) -> None:
    await wms.add_task(make_task(retry=3), jobs=1)
    small, large = await wms.add_pilot(ram=300), await wms.add_pilot(ram=1000)
    (job,) = await wms.lease(small)
    await wms.fail(small, job, error=ErrorClass.OUT_OF_MEMORY)
    assert await wms.lease(small) == []
    (retried_job,) = await wms.lease(large)
    assert retried_job.ram == 384


async def test_impossible_memory_of_a_report_does_not_fail_the_job(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await wms.add_pilot(ram=1000)
    other = await wms.add_pilot(name="other", ram=1200)
    (job,) = await wms.lease(pilot)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=2.0**31
    )
    await wms.report(pilot, report)
    assert (await wms.status(task)).failed == 0
    (retried_job,) = await wms.lease(other)
    assert retried_job.ram == 1200, "the job asks for more than the largest node has"


async def test_memory_of_a_report_is_bounded_by_the_node_of_its_pilot(wms: WmsFixture) -> None:
    await wms.add_task(make_task(resources=Resources(ram=100)), jobs=1)
    pilot = await wms.add_pilot(ram=1000)
    large = await wms.add_pilot(name="large", ram=64_000)
    (job,) = await wms.lease(pilot)
    report = wms.make_report(
        job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY, peak_memory=2.0**31
    )
    await wms.report(pilot, report)
    (retried_job,) = await wms.lease(large)
    assert retried_job.ram == 1500
