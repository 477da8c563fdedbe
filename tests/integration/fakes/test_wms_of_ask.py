"""The fake WMS of the tests of the human-task service has human tasks as the real WMS."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sluice.clients.wms import WmsClient
from sluice.contracts.common.naming import output_name
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import ReportAnswer, StorageType
from sluice.contracts.human_tasks.annotation import AnsweredJob, HumanJob, HumanTask, RefusedJob
from sluice.contracts.pilots.output_files import OutputFile
from sluice.contracts.templates.plan import Boundary
from tests.integration.ask.wms_rows import AskedRows
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import NOT_FOUND, REAL, get_refusal, make_http_client
from tests.integration.wms.human_tasks import HumanTasks
from tests.integration.wms.wms_fixture import CHECKSUM, NOW

pytestmark = pytest.mark.asyncio(loop_scope="module")

ACCEPTED, ALREADY, STALE = ReportAnswer.ACCEPTED, ReportAnswer.ALREADY, ReportAnswer.STALE


@dataclass
class Wms:
    """One of the two. All rows come from the real WMS; ``rows`` is the fake."""

    client: WmsClient
    services: RealServices
    rows: AskedRows | None

    async def task(self, *, items: int) -> tuple[HumanTask, list[HumanJob]]:
        """Return a human task with this number of items."""
        folder = self.services.folder / StorageType.INPUT
        tasks = HumanTasks(self.services.work, self.services.dms, folder)
        uid = (await tasks.create_task(files=items, boundary=Boundary(minimum=0.0))).uid
        [task] = [
            one for one in (await self.services.wms.list_human_tasks()).tasks if one.uid == uid
        ]
        jobs = (await self.services.wms.list_human_jobs(uid)).jobs
        if self.rows is not None:
            self.rows.tasks[uid], self.rows.jobs[uid] = task, jobs
        return task, jobs

    async def report(
        self, uid: UUID, answers: Sequence[AnsweredJob], refused: Sequence[RefusedJob] = ()
    ) -> list[tuple[int, ReportAnswer]]:
        accepted = await self.client.report_answers(uid, jobs=answers, refused=refused)
        return [(one.id, one.answer) for one in accepted.jobs]

    async def waiting(self, uid: UUID) -> list[int]:
        return [job.id for job in (await self.client.list_human_jobs(uid)).jobs]


@pytest_asyncio.fixture(loop_scope="module")
async def wms(kind: str, services: RealServices) -> Wms:
    await services.work.execute("TRUNCATE tasks CASCADE")
    if kind == REAL:
        return Wms(services.wms, services, None)
    rows = AskedRows()
    return Wms(WmsClient(make_http_client(rows.app(), "wms")), services, rows)


def answer(task: HumanTask, job: HumanJob, *, folder: str | None = None) -> AnsweredJob:
    name = output_name(job.seq, 1, "answer.json")
    output = OutputFile(
        port=task.output.port,
        name=name,
        size=1,
        checksum=CHECKSUM,
        url=f"{folder or task.output.dat_out_url}/{name}",
    )
    return AnsweredJob(id=job.id, output=output, asked_at=NOW, answered_at=NOW)


def refuse(job: HumanJob) -> RefusedJob:
    return RefusedJob(id=job.id, reason="it is not an image", asked_at=NOW)


async def test_human_tasks_are_listed_oldest_first(wms: Wms) -> None:
    first, _ = await wms.task(items=2)
    second, _ = await wms.task(items=3)
    listed = (await wms.client.list_human_tasks()).tasks
    assert [(task.uid, task.asked) for task in listed] == [(first.uid, 2), (second.uid, 3)]
    assert listed[0] == first


async def test_jobs_follow_an_id_and_are_in_order(wms: Wms) -> None:
    task, jobs = await wms.task(items=3)
    ids = [job.id for job in jobs]
    assert await wms.waiting(task.uid) == sorted(ids)
    page = await wms.client.list_human_jobs(task.uid, after=ids[0], limit=1)
    assert [job.id for job in page.jobs] == ids[1:2]
    assert (await wms.client.list_human_jobs(task.uid, after=ids[-1])).jobs == []


async def test_answers_are_accepted_once(wms: Wms) -> None:
    task, [first, second, _] = await wms.task(items=3)
    answers = [answer(task, first), answer(task, second)]
    assert await wms.report(task.uid, answers[:1]) == [(first.id, ACCEPTED)]
    assert await wms.report(task.uid, answers) == [(first.id, ALREADY), (second.id, ACCEPTED)]


async def test_decided_jobs_do_not_wait_any_more(wms: Wms) -> None:
    task, [first, second, third] = await wms.task(items=3)
    await wms.report(task.uid, [answer(task, first)], [refuse(second)])
    assert await wms.waiting(task.uid) == [third.id]
    [listed] = (await wms.client.list_human_tasks()).tasks
    assert listed.asked == 1


async def test_refused_jobs_follow_the_answered_ones_in_the_response(wms: Wms) -> None:
    task, [first, second, _] = await wms.task(items=3)
    accepted = await wms.report(task.uid, [answer(task, second)], [refuse(first)])
    assert accepted == [(second.id, ACCEPTED), (first.id, ACCEPTED)]
    assert await wms.report(task.uid, [], [refuse(first)]) == [(first.id, STALE)]


async def test_answer_to_a_refused_or_unknown_job_is_stale(wms: Wms) -> None:
    task, [first, _] = await wms.task(items=2)
    await wms.report(task.uid, [], [refuse(first)])
    unknown = first.model_copy(update={"id": first.id + 1_000_000})
    answers = [answer(task, first), answer(task, unknown)]
    assert await wms.report(task.uid, answers) == [(first.id, STALE), (unknown.id, STALE)]


async def test_task_without_waiting_jobs_has_ended(wms: Wms) -> None:
    task, jobs = await wms.task(items=2)
    await wms.report(task.uid, [answer(task, job) for job in jobs])
    assert (await wms.client.list_human_tasks()).tasks == []
    assert await wms.waiting(task.uid) == []


async def test_no_answer_is_accepted_if_a_file_is_elsewhere(wms: Wms) -> None:
    task, [first, second] = await wms.task(items=2)
    answers = [answer(task, first), answer(task, second, folder="file:///tmp/elsewhere")]
    with pytest.raises(Unprocessable) as refused:
        await wms.client.report_answers(task.uid, jobs=answers)
    assert refused.value.fields["jobs"] == str(second.id)
    assert await wms.waiting(task.uid) == [first.id, second.id]


async def test_unknown_task_is_not_found(wms: Wms) -> None:
    task, [job] = await wms.task(items=1)
    assert await get_refusal(wms.client.list_human_jobs(uuid4())) == NOT_FOUND
    assert (
        await get_refusal(wms.client.report_answers(uuid4(), jobs=[answer(task, job)])) == NOT_FOUND
    )
