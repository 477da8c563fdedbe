"""Explanations say in numbers why a task or job does not run."""

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.states import ContainerEngine, ErrorClass, SandboxKind
from sluice.contracts.jobs.needs import Container, ContainerImage, Resources
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import PilotTask
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.leasing.explain_job import explain_job
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.accept_task import accept_task
from wms.usecases.tasks.cancel_task import cancel_task

LENIENT = Boundary(minimum=0.0, sufficient=1.0)


async def get_explanation(wms: WmsFixture, task: Task) -> str:
    return (await explain_task(wms.context, task.uid)).text


async def get_job_explanation(wms: WmsFixture, job_id: int) -> str:
    return (await explain_job(wms.context, job_id)).text


async def test_waiting_task_is_explained(wms: WmsFixture) -> None:
    new = make_task()
    async with wms.database.transaction() as transaction:
        await accept_task(transaction, new)
    assert await get_explanation(wms, new) == "Waiting for its turn to be split into jobs."
    task = await wms.add_task(make_task(resources=Resources(cores=4)), jobs=3)
    assert (
        await get_explanation(wms, task)
        == "No pilot: no registered pilot is alive and takes jobs (3 ready, 0 of 3 jobs finished)."
    )
    small = await wms.add_pilot(cores=2)
    await wms.add_pilot(cores=1)
    assert (
        "No pilot fits: a job needs 4 cores, the node has 2 (this is the largest of 2 pilots)"
        in await get_explanation(wms, task)
    )
    await wms.add_pilot(cores=4)
    assert "Next in line: 3 pilots have no capacity left" in await get_explanation(wms, task)
    await wms.add_task(make_task(rank=2), jobs=7)
    assert "Waiting behind 1 task of higher rank or age with 7 ready jobs" in await get_explanation(
        wms, task
    )
    await drain_pilot(wms.context, small)
    job, *_ = await wms.lease(await wms.add_pilot(), 8)
    assert (
        await get_job_explanation(wms, job.id)
        == f"Leased to pilot {await _get_pilot(wms, job.id)} (attempt 1), which has not started it"
        " yet."
    )


async def test_task_that_needs_a_container_is_explained(wms: WmsFixture) -> None:
    container = Container(images=[ContainerImage(name="debian:12")])
    task = await wms.add_task(make_task(container=container, resources=Resources(cores=2)), jobs=2)
    pilots_without_engine = [await wms.add_pilot(cores=32)]
    assert (
        "needs a container, and the only pilot has none of Docker, Podman, Apptainer or udocker"
        in await get_explanation(wms, task)
    )
    pilots_without_engine += [await wms.add_pilot(cores=64) for _ in range(2)]
    assert (
        "a job needs a container, and none of the 3 pilots has Docker, Podman, Apptainer or udocker"
        in await get_explanation(wms, task)
    )
    assert [await wms.lease(pilot, 2) for pilot in pilots_without_engine] == [[], [], []]
    small = await wms.add_pilot(cores=1, engines=[ContainerEngine.PODMAN])
    assert (
        "a job needs 2 cores, the node has 1 (this is the largest of 4 pilots)"
    ) in await get_explanation(wms, task)
    assert await wms.lease(small, 2) == []
    lease_of_suitable_pilot = await wms.request_lease(
        await wms.add_pilot(engines=[ContainerEngine.DOCKER]), 2
    )
    assert len(lease_of_suitable_pilot.jobs) == 2
    assert (
        PilotTask.model_validate_json(lease_of_suitable_pilot.tasks[0].pilot_json).needs.container
        == container
    )


async def test_optional_container_excludes_no_pilot(wms: WmsFixture) -> None:
    container = Container(images=[ContainerImage(name="debian:12")], required=False)
    await wms.add_task(make_task(container=container), jobs=1)
    assert len(await wms.lease(await wms.add_pilot(), 1)) == 1


async def test_task_that_needs_a_sandbox_is_explained(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(sandbox=True), jobs=2)
    pilots_without_engine = [await wms.add_pilot()]
    assert (
        "a job needs a sandbox (bubblewrap), and the only pilot has none"
        in await get_explanation(wms, task)
    )
    pilots_without_engine.append(await wms.add_pilot(engines=[ContainerEngine.PODMAN]))
    assert (
        "a job needs a sandbox (bubblewrap), and none of the 2 pilots has one"
        in await get_explanation(wms, task)
    )
    secret = await wms.add_task(
        make_task(sandbox=True, secrets={"key": SecretRef(name="a", version=1)}), jobs=1
    )
    assert "a job needs a sandbox (bubblewrap) for its secrets, and none" in await get_explanation(
        wms, secret
    )
    pilots_without_engine.append(await wms.add_pilot(sandbox=SandboxKind.USERS))
    assert (
        "none of the 3 pilots has one (some have only a user for each slot, which is not a sandbox)"
    ) in await get_explanation(wms, task)
    assert [await wms.lease(pilot, 3) for pilot in pilots_without_engine] == [[], [], []]
    lease_of_suitable_pilot = await wms.request_lease(
        await wms.add_pilot(sandbox=SandboxKind.NAMESPACES), 2
    )
    assert len(lease_of_suitable_pilot.jobs) == 2
    assert PilotTask.model_validate_json(lease_of_suitable_pilot.tasks[0].pilot_json).needs.sandbox


async def _get_pilot(wms: WmsFixture, job_id: int) -> object:
    async with wms.database.connection() as connection:
        return await connection.fetchval("SELECT pilot FROM jobs WHERE id = $1", job_id)


async def test_jobs_that_back_off_or_failed_are_explained(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=2, backoff=100.0, boundary=LENIENT), jobs=2)
    pilot = await wms.add_pilot()
    first, other = await wms.lease(pilot, 2)
    await wms.fail(pilot, first)
    assert "1 with pilots, 1 ready" in await get_explanation(wms, task)
    await wms.finish(pilot, other)
    assert (await get_explanation(wms, task)).startswith(
        "Backing off: 1 job will be tried again, the first in "
    )
    text = await get_job_explanation(wms, first.id)
    assert text.startswith("Backing off for another ")
    assert text.endswith("after attempt 1 of at most 2, which ended with tool_failed: exit code 1.")
    await wms.execute("UPDATE jobs SET not_before = now() WHERE id = $1", first.id)
    (retried_job,) = await wms.lease(pilot)
    await wms.fail(pilot, retried_job)
    assert (
        await get_job_explanation(wms, first.id)
        == "Failed with attempt 2 of at most 2: tool_failed: exit code 1."
    )
    assert await get_explanation(wms, task) == "Finished: 1 of 2 jobs finished, 1 failed."


async def test_quarantined_failed_and_canceled_jobs_are_explained(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    for _ in range(5):
        (job,) = await wms.lease(pilot)
        await wms.backdate_leases(job)
        await wms.expire_leases()
    assert "Waiting for a person: 0 of 1 job finished, 1 job quarantined" in await get_explanation(
        wms, task
    )
    assert (await get_job_explanation(wms, job.id)).startswith(
        "Quarantined after 5 attempts: several in a row were lost with their pilots"
    )
    await cancel_task(wms.context, task.uid)
    assert await get_explanation(wms, task) == "Canceled: canceled by request."
    assert await get_job_explanation(wms, job.id) == "Canceled: its task ended as canceled."
    failed = await wms.add_task(make_task(), jobs=1)
    await wms.fail(pilot, *await wms.lease(pilot), error=ErrorClass.TOOL_REFUSED)
    assert "Failed: 1 of 1 job failed" in await get_explanation(wms, failed)


async def test_job_that_needs_more_memory_than_any_pilot_has_is_explained(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=1)
    pilot, large = await wms.add_pilot(ram=300), await wms.add_pilot(ram=400)
    (job,) = await wms.lease(pilot)
    await wms.fail(pilot, job, error=ErrorClass.OUT_OF_MEMORY)
    await sign_off_pilot(wms.context, large, [])
    assert "needs 384 MiB of memory, the node has 300" in await get_job_explanation(wms, job.id)
