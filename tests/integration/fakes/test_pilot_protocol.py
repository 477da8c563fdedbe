"""The scripted WMS of the tests of the pilot speaks the protocol as the real WMS."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sluice.clients.wms import WmsClient
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, ReportAnswer, StorageType
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.heartbeats import Heartbeat
from sluice.contracts.pilots.leases import JobToken, LeasedJob, LeaseRequest, PilotTask
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.output_files import OutputFile
from sluice.contracts.pilots.registration import RegisterPilot, SignOff
from sluice.contracts.pilots.reports import AttemptReport, Report
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import NOT_FOUND, REAL, get_refusal, make_http_client
from tests.integration.wms.wms_fixture import CHECKSUM, make_input_file, make_task
from tests.servers.scripted_wms import ScriptedWms
from wms.db.tasks.task_cache import build_cached_task

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEASE = 300.0


@dataclass
class Wms:
    """One of the two; ``scripted`` is None for the real one. Only its own jobs are ready."""

    client: WmsClient
    services: RealServices
    scripted: ScriptedWms | None

    async def add(self, jobs: int) -> Task:
        """Add a task with this number of ready jobs."""
        folder = f"file://{self.services.folder / StorageType.INTERMEDIATE}"
        task = make_task(dat_stor_url=folder, dat_out_url=f"{folder}/{uuid4()}")
        if self.scripted is None:
            return await self.services.work.add_task(task, jobs=jobs)
        known = PilotTask.model_validate_json(build_cached_task(task).pilot_json)
        first = 1 + max((job.id for job in self.scripted.leased_jobs), default=0)
        leasable = [
            LeasedJob(
                id=first + seq,
                attempt=1,
                task_uid=task.uid,
                seq=seq,
                inputs=[InputFile(**make_input_file(seq))],
            )
            for seq in range(jobs)
        ]
        self.scripted.add_jobs(known, leasable)
        return task

    async def pilot(self) -> UUID:
        uid = uuid4()
        await self.client.register(make_registration(uid))
        return uid

    async def drain(self, pilot: UUID) -> None:
        if self.scripted is None:
            await self.client.drain_pilot(pilot)
        else:
            self.scripted.drain = True

    async def report(self, pilot: UUID, *reports: AttemptReport) -> list[ReportAnswer]:
        answers = await self.client.report(pilot, Report(reports=list(reports)))
        assert [(one.id, one.attempt) for one in answers.answers] == [
            (report.id, report.attempt) for report in reports
        ]
        return [one.answer for one in answers.answers]


@pytest_asyncio.fixture(loop_scope="module")
async def wms(kind: str, services: RealServices) -> Wms:
    if kind == REAL:
        await services.work.execute("TRUNCATE tasks, pilots CASCADE")
        return Wms(services.wms, services, None)
    scripted = ScriptedWms(lease=LEASE)
    return Wms(WmsClient(make_http_client(scripted.app(), "wms")), services, scripted)


def make_registration(uid: UUID) -> RegisterPilot:
    node = NodeResources(cores=8, ram=16_000, disk=1_000_000)
    return RegisterPilot(uid=uid, name="p", host="h", slots=8, resources=node, version="1")


def make_report(
    job: LeasedJob, task: Task, outcome: AttemptOutcome = AttemptOutcome.FINISHED, **changes: Any
) -> AttemptReport:
    now = datetime.now(UTC)
    name = output_name(job.seq, job.attempt, "events")
    output = OutputFile(
        port=task.main_output.port,
        name=name,
        size=1,
        checksum=CHECKSUM,
        url=f"{task.main_output.dat_out_url}/{name}",
    )
    finished = outcome is AttemptOutcome.FINISHED
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=outcome,
        started_at=now,
        ended_at=now,
        exit_code=0 if finished else 1,
        error_class=None if finished else ErrorClass.TOOL_FAILED,
        outputs=[output] if finished else [],
        **changes,
    )


async def test_registration_says_how_long_leases_last(wms: Wms) -> None:
    registration = await wms.client.register(make_registration(uuid4()))
    assert registration.lease > registration.heartbeat > 0


async def test_registration_can_be_repeated(wms: Wms) -> None:
    pilot = await wms.pilot()
    await wms.client.register(make_registration(pilot))
    assert not (await wms.client.lease(pilot, LeaseRequest(jobs=1))).drain


async def test_unknown_pilot_gets_not_found(wms: Wms) -> None:
    task, pilot, unknown = await wms.add(1), await wms.pilot(), uuid4()
    [job] = (await wms.client.lease(pilot, LeaseRequest(jobs=1))).jobs
    report = Report(reports=[make_report(job, task)])
    assert await get_refusal(wms.client.lease(unknown, LeaseRequest(jobs=1))) == NOT_FOUND
    assert await get_refusal(wms.client.send_heartbeat(unknown, Heartbeat())) == NOT_FOUND
    assert await get_refusal(wms.client.report(unknown, report)) == NOT_FOUND
    assert await get_refusal(wms.client.list_pilot_storages(unknown)) == NOT_FOUND
    assert await get_refusal(wms.client.sign_off(unknown, SignOff())) == NOT_FOUND


async def test_lease_has_no_more_jobs_than_requested(wms: Wms) -> None:
    task, pilot = await wms.add(3), await wms.pilot()
    first = await wms.client.lease(pilot, LeaseRequest(jobs=2))
    rest = await wms.client.lease(pilot, LeaseRequest(jobs=2))
    assert [job.seq for job in first.jobs] == [0, 1]
    assert [job.seq for job in rest.jobs] == [2]
    assert {job.attempt for job in first.jobs} == {1}
    assert {job.task_uid for job in first.jobs} == {task.uid}
    assert [job_input.name for job_input in first.jobs[0].inputs] == [make_input_file(0)["name"]]


async def test_lease_describes_only_tasks_that_the_pilot_does_not_know(wms: Wms) -> None:
    task, pilot = await wms.add(2), await wms.pilot()
    first = await wms.client.lease(pilot, LeaseRequest(jobs=1))
    second = await wms.client.lease(pilot, LeaseRequest(jobs=1, known_tasks=[task.uid]))
    assert [known.uid for known in first.tasks] == [task.uid]
    assert second.jobs
    assert second.tasks == []


async def test_lease_without_ready_jobs_is_empty_after_the_wait(wms: Wms) -> None:
    pilot = await wms.pilot()
    lease = await wms.client.lease(pilot, LeaseRequest(jobs=1, wait=0.2))
    assert (lease.jobs, lease.tasks, lease.drain) == ([], [], False)


async def test_draining_pilot_gets_no_jobs(wms: Wms) -> None:
    await wms.add(1)
    pilot = await wms.pilot()
    await wms.drain(pilot)
    lease = await wms.client.lease(pilot, LeaseRequest(jobs=1, wait=5.0))
    assert (lease.jobs, lease.drain) == ([], True)
    assert (await wms.client.send_heartbeat(pilot, Heartbeat())).drain


async def test_pilot_that_signed_off_gets_no_jobs_until_it_registers_again(wms: Wms) -> None:
    await wms.add(1)
    pilot = await wms.pilot()
    await wms.client.sign_off(pilot, SignOff())
    await wms.client.sign_off(pilot, SignOff())
    assert (await wms.client.lease(pilot, LeaseRequest(jobs=1))).drain
    await wms.client.register(make_registration(pilot))
    assert len((await wms.client.lease(pilot, LeaseRequest(jobs=1))).jobs) == 1


async def test_heartbeat_without_news_has_no_commands(wms: Wms) -> None:
    await wms.add(1)
    pilot = await wms.pilot()
    [job] = (await wms.client.lease(pilot, LeaseRequest(jobs=1))).jobs
    waiting = [JobToken(id=job.id, attempt=job.attempt)]
    answer = await wms.client.send_heartbeat(pilot, Heartbeat(waiting=waiting))
    assert (answer.commands, answer.drain) == ([], False)
    assert answer.lease > 0


async def test_report_is_accepted_once(wms: Wms) -> None:
    task, pilot = await wms.add(2), await wms.pilot()
    jobs = (await wms.client.lease(pilot, LeaseRequest(jobs=2))).jobs
    reports = [make_report(job, task) for job in jobs]
    assert await wms.report(pilot, reports[0]) == [ReportAnswer.ACCEPTED]
    assert await wms.report(pilot, *reports) == [ReportAnswer.ALREADY, ReportAnswer.ACCEPTED]


async def test_report_on_an_attempt_that_was_never_leased_is_stale(wms: Wms) -> None:
    task, pilot = await wms.add(1), await wms.pilot()
    [job] = (await wms.client.lease(pilot, LeaseRequest(jobs=1))).jobs
    later = job.model_copy(update={"attempt": job.attempt + 1})
    unknown = job.model_copy(update={"id": job.id + 1_000_000})
    reports = [make_report(later, task), make_report(unknown, task)]
    assert await wms.report(pilot, *reports) == [ReportAnswer.STALE] * 2


@pytest.mark.parametrize("outcome", [AttemptOutcome.FINISHED, AttemptOutcome.FAILED])
async def test_answer_says_whether_the_job_has_ended_if_there_is_a_checkpoint(
    wms: Wms, outcome: AttemptOutcome
) -> None:
    task, pilot = await wms.add(1), await wms.pilot()
    [job] = (await wms.client.lease(pilot, LeaseRequest(jobs=1))).jobs
    report = make_report(job, task, outcome, checkpoint=True)
    answer = await wms.client.report(pilot, Report(reports=[report]))
    assert [one.ended for one in answer.answers] == [outcome is AttemptOutcome.FINISHED]


async def test_pilot_gets_only_the_storages_that_tasks_write_to(wms: Wms) -> None:
    task, pilot = await wms.add(1), await wms.pilot()
    urls = (await wms.client.list_pilot_storages(pilot)).urls
    assert task.main_output.dat_stor_url in urls
    assert f"file://{wms.services.folder / StorageType.INPUT}" not in urls
