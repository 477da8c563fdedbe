"""Jobs of a pilot never need more than its free capacity, and big jobs get reservations."""

from typing import Any
from uuid import UUID

from sluice.contracts.common.states import DeviceType, ErrorClass
from sluice.contracts.jobs.gpus import FreeGpu, Gpu, GpuNeeds
from sluice.contracts.jobs.needs import Needs, Resources
from sluice.contracts.jobs.resources import AllocatedAmounts, Amounts
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import FreeCapacity, LeaseRequest
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from tests.unit.gpus import make_gpu
from wms.db.pilots.pilot_pages import PilotQuery
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.leasing.lease_jobs import LeaseResult, lease_jobs
from wms.usecases.pilots.list_pilots import list_pilots

BIG = Resources(cores=8)


def make_whole_gpus(number: int) -> list[FreeGpu]:
    """Return free GPUs of a pilot that registered only their names."""
    return [FreeGpu(uuid=str(place), share=1, memory=0) for place in range(number)]


async def request_jobs(
    wms: WmsFixture, pilot: UUID, jobs: int, *, cores: float, ram: int = 16_000, gpus: int = 0
) -> LeaseResult:
    free = Amounts(cores=cores, ram=ram, gpus=make_whole_gpus(gpus))
    return await lease_jobs(
        wms.context,
        pilot,
        LeaseRequest(jobs=jobs, free_capacity=FreeCapacity(free=free, soon=free)),
    )


def count_jobs_by_task(leased: LeaseResult) -> dict[UUID, int]:
    counts: dict[UUID, int] = {}
    for job in leased.jobs:
        counts[job.task_uid] = counts.get(job.task_uid, 0) + 1
    return counts


async def add_task(wms: WmsFixture, jobs: int = 20, **changes: Any) -> Task:
    return await wms.add_task(make_task(**changes), jobs=jobs)


async def backdate_task(wms: WmsFixture, task: Task) -> None:
    await wms.execute(
        "UPDATE tasks SET created_at = created_at - interval '1 minute', served_at = served_at -"
        " interval '1 minute' WHERE uid = $1",
        task.uid,
    )


async def test_big_jobs_are_leased_only_as_far_as_free_cores_allow(wms: WmsFixture) -> None:
    big, small = await add_task(wms, resources=BIG, rank=2.0), await add_task(wms)
    pilot = await wms.add_pilot()
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=8)) == {big.uid: 1}
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=3)) == {small.uid: 3}
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=0)) == {}
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=8, ram=600)) == {big.uid: 1}


async def test_gpu_jobs_are_leased_only_as_far_as_free_gpus_allow(wms: WmsFixture) -> None:
    task = await add_task(wms, device_type=DeviceType.GPU)
    pilot = await wms.add_pilot(gpus=["A", "B"])
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=8, gpus=2)) == {task.uid: 2}
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=6)) == {}


async def request_with_gpus(
    wms: WmsFixture, pilot: UUID, *free: FreeGpu, jobs: int = 8
) -> LeaseResult:
    """Ask for jobs with these free GPUs and plenty of everything else."""
    free_capacity = Amounts(cores=64, ram=64_000, gpus=list(free))
    return await lease_jobs(
        wms.context,
        pilot,
        LeaseRequest(jobs=jobs, free_capacity=FreeCapacity(free=free_capacity, soon=free_capacity)),
    )


def make_free_gpu(device: Gpu, share: float = 1.0) -> FreeGpu:
    return FreeGpu(uuid=device.uuid, share=share, memory=int(share * device.memory))


async def test_gpu_job_goes_to_a_pilot_with_a_suitable_free_gpu(wms: WmsFixture) -> None:
    old, new = (
        make_gpu("GPU-old", memory=8_000),
        make_gpu("GPU-new", memory=80_000, capability="9.0"),
    )
    weak = await wms.add_pilot(name="weak", devices=[old])
    strong = await wms.add_pilot(name="strong", devices=[old, new])
    needs = GpuNeeds(capability="9.0", memory=40_000)
    task = await add_task(wms, device_type=DeviceType.GPU, gpu=needs)
    assert count_jobs_by_task(await request_with_gpus(wms, weak, make_free_gpu(old))) == {}
    assert count_jobs_by_task(await request_with_gpus(wms, strong, make_free_gpu(old))) == {}, (
        "a job was leased although its GPU is in use"
    )
    assert count_jobs_by_task(
        await request_with_gpus(wms, strong, make_free_gpu(old), make_free_gpu(new))
    ) == {task.uid: 1}


async def test_jobs_share_a_gpu_as_far_as_memory_and_shares_allow(wms: WmsFixture) -> None:
    device = make_gpu(memory=16_000)
    pilot = await wms.add_pilot(devices=[device])
    shared = GpuNeeds(share=0.25, memory=5_000)
    task = await add_task(wms, device_type=DeviceType.GPU, gpu=shared)
    assert count_jobs_by_task(await request_with_gpus(wms, pilot, make_free_gpu(device))) == {
        task.uid: 3
    }
    assert count_jobs_by_task(await request_with_gpus(wms, pilot, make_free_gpu(device, 0.2))) == {}


async def test_explanation_names_the_gpu_memory_that_no_node_has(wms: WmsFixture) -> None:
    await wms.add_pilot(name="small", devices=[make_gpu(memory=8_000)])
    await wms.add_pilot(name="many cores", cores=64)
    task = await add_task(wms, device_type=DeviceType.GPU, gpu=GpuNeeds(memory=40_000))
    explanation = await explain_task(wms.context, task.uid)
    assert "needs a GPU with 40000 MiB of memory, the node has 8000" in str(explanation)


async def test_pilot_is_reserved_for_a_big_job_that_has_waited(wms: WmsFixture) -> None:
    """The big job has the same rank and is older. Only one pilot at a time is reserved."""
    big = await add_task(wms, resources=BIG)
    small = await add_task(wms, jobs=200)
    first, second = await wms.add_pilot(name="first"), await wms.add_pilot(name="second")
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=4)) == {small.uid: 4}
    await backdate_task(wms, big)
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=4)) == {}
    assert count_jobs_by_task(await request_jobs(wms, second, 8, cores=4)) == {small.uid: 4}
    sentence = (await explain_task(wms.context, big.uid)).text
    assert sentence.startswith(
        "Waiting for capacity: pilot first gets no jobs of lower rank until a job of this task"
        " fits, which needs 8 cores, 256 MiB of memory"
    )
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=7)) == {}
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=8)) == {big.uid: 1}
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=0)) == {}
    await wms.execute(
        "UPDATE tasks SET reserved_until = now() - interval '1 second' WHERE uid = $1", big.uid
    )
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=4)) == {small.uid: 4}
    await backdate_task(wms, big)
    assert count_jobs_by_task(await request_jobs(wms, second, 8, cores=4)) == {}
    assert count_jobs_by_task(await request_jobs(wms, first, 8, cores=4)) == {small.uid: 4}


async def test_task_of_higher_rank_gets_jobs_despite_a_reservation(wms: WmsFixture) -> None:
    big, urgent = await add_task(wms, resources=BIG), await add_task(wms, rank=5.0)
    pilot = await wms.add_pilot()
    await backdate_task(wms, big)
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=4)) == {urgent.uid: 4}
    assert count_jobs_by_task(await request_jobs(wms, pilot, 8, cores=4)) == {urgent.uid: 4}


async def test_job_that_needs_more_memory_goes_before_later_jobs_of_its_task(
    wms: WmsFixture,
) -> None:
    await add_task(wms, resources=Resources(ram=1000), retry=5)
    pilot = await wms.add_pilot()
    (job,) = (await request_jobs(wms, pilot, 1, cores=1)).jobs
    await wms.fail(pilot, job, error=ErrorClass.OUT_OF_MEMORY)
    assert [job.seq for job in (await request_jobs(wms, pilot, 1, cores=1, ram=1200)).jobs] == [1]
    await wms.execute(
        "UPDATE jobs SET not_before = not_before - interval '1 minute' WHERE id = $1", job.id
    )
    assert [job.seq for job in (await request_jobs(wms, pilot, 2, cores=2, ram=2200)).jobs] == [
        0,
        2,
    ]


async def test_pilot_is_reserved_for_a_job_that_needs_more_memory(wms: WmsFixture) -> None:
    await add_task(wms, jobs=2, resources=Resources(ram=1000), retry=5)
    small = await add_task(wms, resources=Resources(ram=100))
    pilot = await wms.add_pilot()
    first, other = (await request_jobs(wms, pilot, 2, cores=2)).jobs
    await wms.fail(pilot, first, error=ErrorClass.OUT_OF_MEMORY)
    await wms.execute(
        "UPDATE jobs SET not_before = not_before - interval '1 minute' WHERE id = $1", first.id
    )
    assert count_jobs_by_task(await request_jobs(wms, pilot, 2, cores=2, ram=1200)) == {}
    second_lease = await request_jobs(wms, pilot, 2, cores=2, ram=1500)
    assert [(job.id, job.ram) for job in second_lease.jobs] == [(first.id, 1500)]
    await wms.finish(pilot, other)
    assert count_jobs_by_task(await request_jobs(wms, pilot, 2, cores=2, ram=1200)) == {
        small.uid: 2
    }


async def request_jobs_with(wms: WmsFixture, pilot: UUID, **free: Any) -> LeaseResult:
    free_capacity = Amounts(cores=8, ram=16_000, **free)
    return await lease_jobs(
        wms.context,
        pilot,
        LeaseRequest(jobs=8, free_capacity=FreeCapacity(free=free_capacity, soon=free_capacity)),
    )


async def test_named_resources_labels_and_disk_are_matched_and_sent_to_the_pilot(
    wms: WmsFixture,
) -> None:
    prague = await wms.add_pilot(name="prague", named={"licence": 3}, labels={"site": "prague"})
    brno = await wms.add_pilot(name="brno", named={"licence": 3}, labels={"site": "brno"})
    needs = Needs(
        resources=Resources(disk=2000), named={"licence": 1.5}, nodes={"site": ["prague"]}
    )
    task = await add_task(wms, **needs.model_dump(include={"resources", "named", "nodes"}))
    plenty = {"named": {"licence": 3}, "disk": 100_000}
    assert count_jobs_by_task(await request_jobs_with(wms, brno, **plenty)) == {}
    assert count_jobs_by_task(await request_jobs_with(wms, prague, named={"licence": 1})) == {}
    assert count_jobs_by_task(
        await request_jobs_with(wms, prague, disk=3999, named={"licence": 3})
    ) == {task.uid: 1}
    leased = await request_jobs_with(wms, prague, **plenty)
    assert count_jobs_by_task(leased) == {task.uid: 2}
    assert leased.tasks[0].task.needs == needs
    page = await list_pilots(wms.context, PilotQuery(name="prague", limit=9))
    [listed] = page.pilots
    assert (listed.busy, listed.allocated) == (
        2,
        AllocatedAmounts(cores=2, ram=512, disk=4000, named={"licence": 3}),
    ), "a job without a licence counts as running"
    assert listed.in_use() == {
        "cores": "2 of 8",
        "memory": "512 of 16000",
        "disk": "4000 of 1000000",
        "licence": "3 of 3",
    }


async def test_explanation_covers_all_nodes_that_do_not_fit(wms: WmsFixture) -> None:
    for number in range(3):
        await wms.add_pilot(name=f"p{number}", labels={"site": "brno"}, cores=4)
    await wms.add_pilot(name="q", labels={"site": "prague"}, cores=2)
    task = await add_task(wms, resources=Resources(cores=3), nodes={"site": ["prague"]})
    explanation = (await explain_task(wms.context, task.uid)).text
    assert explanation.startswith(
        "No pilot fits: a job needs a node with site prague, the node has brno (this is the"
        " largest of 4 pilots; 1 other: needs 3 cores, the node has 2)"
    ), explanation
