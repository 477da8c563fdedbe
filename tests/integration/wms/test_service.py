"""The WMS works as a whole: a task message in, jobs over REST, messages out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import pytest

from dms.settings import DmsSettings
from dms.wiring import build as build_dms
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.problems import NotFound, Unprocessable
from sluice.contracts.common.states import (
    AttemptOutcome,
    DatasetState,
    DatasetType,
    JobState,
    ReportAnswer,
    StorageType,
    TaskState,
)
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile, NewStorage
from sluice.contracts.human_tasks.annotation import AnsweredJob
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.messaging.messages import WMS_TASKS, CloudEvent
from sluice.contracts.pilots.leases import Lease, LeasedJob, LeaseRequest
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.output_files import OutputFile
from sluice.contracts.pilots.registration import RegisterPilot, SignOff
from sluice.contracts.pilots.reports import AttemptReport, Report
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.running.service_clients import ProcessLinks
from sluice.servicekit.transport.base import Message, Transport
from sluice.servicekit.transport.open import open_transport
from tests.conftest import DatabaseFactory
from tests.integration.wms.wms_fixture import CHECKSUM, NOW, make_task
from tests.waiting import eventually
from wms.settings import WmsSettings
from wms.wiring import build


@dataclass
class System:
    dms: DmsClient
    wms: WmsClient
    http: httpx.AsyncClient
    transport: Transport
    folder: Path

    async def dataset(self, name: str, type_: DatasetType, *, files: int = 0) -> Dataset:
        url = None if type_ is DatasetType.INPUT else f"file://{self.folder}/{type_}/{name}"
        new_dataset = await self.dms.register_dataset(NewDataset(name=name, type=type_, url=url))
        new = [
            NewFile(
                seq=n,
                name=f"f{n}",
                size=1,
                checksum=CHECKSUM,
                url=f"file://{self.folder}/input/f{n}",
            )
            for n in range(files)
        ]
        if new:
            await self.dms.register_many_files(new_dataset.uid, new)
        return new_dataset

    async def task(self, *, files: int) -> Task:
        data = await self.dataset("raw", DatasetType.INPUT, files=files)
        out = await self.dataset("out", DatasetType.INTERMEDIATE)
        logs = await self.dataset("logs", DatasetType.LOGS)
        return make_task(
            dat_in_uid=data.uid,
            dat_out_uid=out.uid,
            dat_out_url=out.url,
            log_out_uid=logs.uid,
            log_out_url=logs.url,
        )

    async def send(self, task: Task, *, times: int = 1) -> None:
        body = CloudEvent(
            id=str(task.uid),
            source="urn:test",
            type=WMS_TASKS,
            time=NOW,
            data=task.model_dump(mode="json"),
        )
        for _ in range(times):
            await self.transport.send(
                [Message(body.id, WMS_TASKS, body.model_dump_json().encode())]
            )

    async def pilot(self) -> UUID:
        uid = uuid4()
        node = NodeResources(cores=8, ram=10_000, disk=100_000)
        await self.wms.register(
            RegisterPilot(uid=uid, name="p", host="h", slots=4, resources=node, version="1")
        )
        return uid


@pytest.fixture
async def system(make_database: DatabaseFactory, tmp_path: Path) -> AsyncIterator[System]:
    broker = await make_database()
    dms_url, wms_url = [await make_database(f"{name}.db.migrations") for name in ("dms", "wms")]
    links, transport = ProcessLinks(), open_transport(broker, sluice_topology())
    # The files of its data sets do not exist.
    of_dms = DmsSettings(
        database_url=dms_url, broker_url=broker, storage_roots=str(tmp_path), verify_files=False
    )
    dms = build_dms(of_dms, links=links, transport=transport)
    # The periods outlast every test, so that only events cause progress.
    settings = WmsSettings(
        database_url=wms_url,
        broker_url=broker,
        split_waiting_tasks_period=600,
        poll_period=600,
        look_at_outputs="no",
        heartbeat=600,
        lease=900,
    )
    wms = build(settings, links=links, transport=transport)
    links.apps.update(dms=dms.app, wms=wms.app)
    async with running(links, transport, dms, wms):
        client = DmsClient(links.http("dms"))
        for type_ in StorageType:
            (tmp_path / type_).mkdir()
            await client.register_storage(
                NewStorage(name=type_, type=type_, url=f"file://{tmp_path}/{type_}")
            )
        yield System(client, WmsClient(links.http("wms")), links.http("wms"), transport, tmp_path)


def make_success_report(task: Task, jobs: Sequence[LeasedJob]) -> Report:
    """Return a report of success for the jobs, each with an output."""
    return Report(
        reports=[
            AttemptReport(
                id=job.id,
                attempt=job.attempt,
                outcome=AttemptOutcome.FINISHED,
                ended_at=NOW,
                exit_code=0,
                outputs=[
                    OutputFile(
                        port="events",
                        name=name,
                        size=1,
                        checksum=CHECKSUM,
                        url=f"{task.main_output.dat_out_url}/{name}",
                    )
                    for name in [output_name(job.seq, job.attempt, "o")]
                ],
            )
            for job in jobs
        ]
    )


async def lease_all(system: System, task: Task, pilot: UUID) -> Lease:
    """Let the pilot ask for five jobs while the input is open, and then close the input."""

    async def is_input_open() -> bool:
        tasks = (await system.wms.list_tasks(uid=[task.uid])).tasks
        return bool(tasks) and "still open" in tasks[0].reason

    await eventually(is_input_open)
    lease = asyncio.create_task(system.wms.lease(pilot, LeaseRequest(jobs=5, wait=30)))
    await system.dms.close_dataset(task.main_input.dat_in_uid)
    async with asyncio.timeout(20):
        return await lease


async def test_task_message_leads_to_closed_data_sets(system: System) -> None:
    """Invariants 2 and 5: the message comes twice, and the input closes afterwards."""
    task = await system.task(files=5)
    await system.send(task, times=2)
    pilot = await system.pilot()
    lease = await lease_all(system, task, pilot)
    assert [job.seq for job in lease.jobs] == list(range(5))
    (described,) = lease.tasks
    assert (described.uid, described.executable, described.outputs) == (
        task.uid,
        task.executable,
        task.outputs,
    )
    report = make_success_report(task, lease.jobs)
    for expected in (ReportAnswer.ACCEPTED, ReportAnswer.ALREADY):
        answers = (await system.wms.report(pilot, report)).answers
        assert {answer.answer for answer in answers} == {expected}
    status = await system.wms.get_task(task.uid)
    assert (status.state, status.finished, status.total) == (TaskState.FINISHED, 5, 5)

    async def are_datasets_closed() -> bool:
        written = [
            await system.dms.get_dataset(uid)
            for uid in (task.main_output.dat_out_uid, task.log_out_uid)
        ]
        return all(dataset.state is DatasetState.CLOSED for dataset in written)

    await eventually(are_datasets_closed)
    assert [
        file.seq for file in (await system.dms.list_files(task.main_output.dat_out_uid)).files
    ] == list(range(5))
    await _check_shown(system, task, pilot)
    await system.wms.sign_off(pilot, SignOff())


async def test_answers_of_people_close_the_data_sets(system: System) -> None:
    """The items are listed and answered over the routes of the WMS."""
    plain = await system.task(files=3)
    ask = plain.needs.model_copy(update={"ask": Ask(question="Is it sharp?")})
    task = plain.model_copy(update={"needs": ask})
    await system.send(task)
    await system.dms.close_dataset(task.main_input.dat_in_uid)

    async def has_asked_jobs() -> bool:
        return [one.asked for one in (await system.wms.list_human_tasks()).tasks] == [3]

    await eventually(has_asked_jobs)
    first = (await system.wms.list_human_jobs(task.uid, limit=2)).jobs
    jobs = [*first, *(await system.wms.list_human_jobs(task.uid, after=first[-1].id)).jobs]
    assert [job.input.name for job in jobs] == ["f0", "f1", "f2"]
    answers = [
        AnsweredJob(
            id=job.id,
            output=OutputFile(
                port="events",
                name=f"0000000{job.seq}.1-a",
                size=1,
                checksum=CHECKSUM,
                url=f"{task.main_output.dat_out_url}/0000000{job.seq}.1-a",
            ),
            asked_at=NOW,
            answered_at=NOW,
        )
        for job in jobs
    ]
    misplaced_output = answers[0].output.model_copy(
        update={"url": f"{task.main_output.dat_out_url}-b/a0"}
    )
    with pytest.raises(Unprocessable) as refused:
        await system.wms.report_answers(
            task.uid, jobs=[answers[0].model_copy(update={"output": misplaced_output})]
        )
    assert refused.value.fields["jobs"] == str(jobs[0].id)
    for expected in (ReportAnswer.ACCEPTED, ReportAnswer.ALREADY):
        accepted = (await system.wms.report_answers(task.uid, jobs=answers)).jobs
        assert [(one.id, one.answer) for one in accepted] == [(job.id, expected) for job in jobs]

    async def are_datasets_closed() -> bool:
        written = await system.dms.get_dataset(task.main_output.dat_out_uid)
        return (written.state, written.count_files) == (DatasetState.CLOSED, 3)

    await eventually(are_datasets_closed)
    assert (await system.wms.list_human_tasks()).tasks == []


async def _check_shown(system: System, task: Task, pilot: UUID) -> None:
    """Check that the finished task, its jobs and the pilot are shown."""
    page = await system.wms.list_jobs(task.uid, state=JobState.FINISHED, limit=2)
    assert ([job.inputs for job in page.jobs], page.after) == ([["f0"], ["f1"]], "1")
    jobs = system.wms.iterate_jobs(task.uid, state=JobState.FINISHED, page=2)
    assert [job.inputs async for job in jobs] == [[f"f{number}"] for number in range(5)]
    job = await system.wms.get_job(page.jobs[0].id)
    assert [attempt.outcome for attempt in job.attempts] == [AttemptOutcome.FINISHED]
    assert (await system.wms.explain_task(task.uid)).text == "Finished: 5 of 5 jobs finished."
    assert (await system.wms.explain_job(job.id)).text == "Finished with attempt 1."
    (listed_pilot,) = (await system.wms.list_pilots()).pilots
    assert (listed_pilot.finished, listed_pilot.leased) == (5, 0)
    for name, uids in ((listed_pilot.name, [str(pilot)]), ("nobody", [])):
        named = await system.http.get("/api/v1/pilots", params={"name": name})
        assert [row["uid"] for row in named.json()["pilots"]] == uids


async def test_invalid_requests_are_refused_with_their_reason(system: System) -> None:
    pilot = await system.pilot()
    with pytest.raises(NotFound, match="register it first"):
        await system.wms.lease(uuid4(), LeaseRequest(jobs=1))
    with pytest.raises(NotFound, match="no task"):
        await system.wms.explain_task(uuid4())
    with pytest.raises(NotFound, match="no job 77"):
        await system.wms.retry_job(77)
    answer = await system.http.post(
        f"/api/v1/pilots/{pilot}/report", content=b'{"reports": [{"id": "x"}]}'
    )
    assert answer.status_code == 422
    assert "body.reports.0.id" in answer.json()["detail"]
    assert (
        await system.http.post(f"/api/v1/pilots/{pilot}/lease", content=b"{")
    ).status_code == 422
    task = await system.task(files=1)
    await system.dms.close_dataset(task.main_input.dat_in_uid)
    await system.send(task)
    await eventually(lambda: _has_jobs(system, task))
    with pytest.raises(Unprocessable, match="after=x"):
        await system.wms.list_jobs(task.uid, after="x")


async def _has_jobs(system: System, task: Task) -> bool:
    return any(status.total for status in (await system.wms.list_tasks(uid=[task.uid])).tasks)


async def test_health_metrics_and_openapi_document_are_served(system: System) -> None:
    assert (await system.http.get("/readyz")).json() == {"database": "ok", "transport": "ok"}
    assert "sluice_jobs_leased_total" in (await system.http.get("/metrics")).text
    assert (await system.http.get("/api/openapi.json")).json()["paths"][
        "/api/v1/pilots/{uid}/report"
    ]["post"]["requestBody"]


@pytest.mark.parametrize("end", ["0002-01-01T00:00:00Z", "9998-12-31T23:59:59Z"])
async def test_times_of_a_period_at_the_limits_of_the_calendar_are_answered(
    system: System, end: str
) -> None:
    answer = await system.http.get("/api/v1/times", params={"until": end})
    assert answer.is_success, answer.text
    assert answer.json()["steps"] == []
