"""Jobs that exceeded the memory of a GPU request a larger GPU."""

from sluice.contracts.common.states import (
    AttemptOutcome,
    DeviceType,
    ErrorClass,
    TaskState,
)
from sluice.contracts.pilots.reports import AttemptReport
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from tests.unit.gpus import make_gpu
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot


async def test_impossible_gpu_memory_of_a_report_does_not_fail_the_job(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    small, large = make_gpu("GPU-0", memory=8_000), make_gpu("GPU-1", memory=24_000)
    pilot = await wms.add_pilot(devices=[small], gpus=[small.name])
    other = await wms.add_pilot(name="other", devices=[large], gpus=[large.name])
    (job,) = await wms.lease(pilot)
    await wms.report(pilot, make_gpu_memory_report(wms, job, 2**31 - 1))
    assert (await wms.status(task)).failed == 0
    (retried_job,) = await wms.lease(other)
    assert retried_job.gpu_memory == 8_001


async def test_gpu_out_of_memory_asks_for_a_larger_gpu(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    devices = {memory: make_gpu(f"GPU-{memory}", memory=memory) for memory in (8_000, 24_000)}
    pilots = {
        memory: await wms.add_pilot(name=device.uuid, devices=[device], gpus=[device.name])
        for memory, device in devices.items()
    }
    (job,) = await wms.lease(pilots[8_000])
    assert job.gpu_memory is None
    await wms.report(pilots[8_000], make_gpu_memory_report(wms, job, 8_000))
    assert await wms.lease(pilots[8_000]) == []
    (retried_job,) = await wms.lease(pilots[24_000])
    assert (retried_job.gpu_memory, retried_job.ram) == (8_001, None)
    await wms.report(pilots[24_000], make_gpu_memory_report(wms, retried_job, 24_000))
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert "has a GPU with more than 24000 MiB of memory, which it had" in status.reason


async def test_job_that_waits_for_a_larger_gpu_is_explained(wms: WmsFixture) -> None:
    await wms.add_task(make_task(retry=5, device_type=DeviceType.GPU), jobs=1)
    small, large = make_gpu("GPU-0", memory=8_000), make_gpu("GPU-1", memory=24_000)
    pilot = await wms.add_pilot(devices=[small], gpus=[small.name])
    available_pilot = await wms.add_pilot(name="going", devices=[large], gpus=[large.name])
    (job,) = await wms.lease(pilot)
    await wms.report(pilot, make_gpu_memory_report(wms, job, 8_000))
    await sign_off_pilot(wms.context, available_pilot, [])
    await wms.execute("UPDATE jobs SET not_before = now() WHERE id = $1", job.id)
    explanation = (await explain_job(wms.context, job.id)).text
    assert "needs a GPU with 8001 MiB of memory, the node has 8000" in explanation


def make_gpu_memory_report(wms: WmsFixture, job: ClaimedJob, memory: int) -> AttemptReport:
    report = wms.make_report(job, AttemptOutcome.FAILED, error=ErrorClass.OUT_OF_MEMORY)
    return report.model_copy(update={"gpu_memory": memory})
