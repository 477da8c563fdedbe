"""The fake WMS of the tests of the WfMS accepts, cancels and ranks tasks as the real WMS."""

from dataclasses import dataclass, field
from uuid import uuid4

import pytest

from sluice.clients.wms import WmsClient
from sluice.contracts.common.states import TaskState
from sluice.contracts.jobs.tasks import Boost, Boosts, Cancel, Task
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.integration.fakes.real_services import RealServices
from tests.integration.fakes.two_services import (
    CONFLICT,
    NOT_FOUND,
    REAL,
    get_refusal,
    make_http_client,
)
from tests.integration.wfms.fake_wms import FakeWms
from tests.integration.wms.splitting.split_tasks import accept_new_task
from tests.integration.wms.wms_fixture import make_task

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Wms:
    """One of the two; ``fake`` is None for the real one."""

    client: WmsClient
    services: RealServices
    fake: FakeWms | None = field(default_factory=FakeWms)

    async def task(self, state: TaskState = TaskState.WAITING) -> Task:
        """Send a task, and let it end if the state is final."""
        task = make_task()
        if self.fake is not None:
            self.fake.accept(task)
            if state.final:
                self.fake.end(task.uid, state)
            return task
        await accept_new_task(self.services.work, task)
        if state.final:
            await self.services.work.execute(
                "UPDATE tasks SET state = $2, ended_at = now() WHERE uid = $1", task.uid, state
            )
        return task


@pytest.fixture
def wms(kind: str, services: RealServices) -> Wms:
    if kind == REAL:
        return Wms(services.wms, services, None)
    fake = FakeWms()
    app = create_app(
        "wms", [open_to_all(fake.routes())], health=Health({}), metrics=ServiceMetrics()
    )
    return Wms(WmsClient(make_http_client(app, "wms")), services, fake)


async def test_accepted_task_waits_and_has_no_jobs(wms: Wms) -> None:
    task = await wms.task()
    [status] = (await wms.client.list_tasks(uid=[task.uid])).tasks
    assert (status.state, status.total, status.rank) == (TaskState.WAITING, 0, task.rank)
    assert (status.chain_uid, status.step, status.mode) == (task.chain_uid, task.step, task.mode)
    assert (status.reason, status.ended_at, status.errors) == ("", None, {})


async def test_unknown_tasks_are_left_out_of_the_list(wms: Wms) -> None:
    task = await wms.task()
    listed = await wms.client.list_tasks(uid=[uuid4(), task.uid])
    assert [status.uid for status in listed.tasks] == [task.uid]


async def test_list_without_uids_has_the_latest_tasks_first(wms: Wms) -> None:
    tasks = [await wms.task() for _ in range(3)]
    latest = (await wms.client.list_tasks(limit=2)).tasks
    assert [status.uid for status in latest] == [tasks[2].uid, tasks[1].uid]


async def test_canceled_task_has_the_first_reason(wms: Wms) -> None:
    task = await wms.task()
    await wms.client.cancel_task(task.uid, Cancel(reason="too slow"))
    canceled = await wms.client.cancel_task(task.uid, Cancel(reason="again"))
    assert (canceled.state, canceled.reason) == (TaskState.CANCELED, "too slow")
    assert canceled.ended_at is not None


async def test_cancel_without_a_reason_has_the_default_reason(wms: Wms) -> None:
    canceled = await wms.client.cancel_task((await wms.task()).uid)
    assert canceled.reason == Cancel().reason


@pytest.mark.parametrize("state", [TaskState.FINISHED, TaskState.FAILED])
async def test_task_that_finished_or_failed_cannot_be_canceled(wms: Wms, state: TaskState) -> None:
    task = await wms.task(state)
    assert await get_refusal(wms.client.cancel_task(task.uid)) == CONFLICT


async def test_rank_of_a_live_task_is_set(wms: Wms) -> None:
    task = await wms.task()
    assert (await wms.client.prioritise_task(task.uid, rank=7.5)).rank == 7.5


@pytest.mark.parametrize("state", [TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELED])
async def test_rank_of_an_ended_task_cannot_be_set(wms: Wms, state: TaskState) -> None:
    task = await wms.task(state)
    assert await get_refusal(wms.client.prioritise_task(task.uid, rank=7.5)) == CONFLICT


async def test_unknown_task_cannot_be_canceled_or_ranked(wms: Wms) -> None:
    assert await get_refusal(wms.client.cancel_task(uuid4())) == NOT_FOUND
    assert await get_refusal(wms.client.prioritise_task(uuid4(), rank=1.0)) == NOT_FOUND


async def test_boosts_replace_each_other_and_skip_unknown_and_ended_tasks(wms: Wms) -> None:
    first, second = await wms.task(), await wms.task()
    ended = await wms.task(TaskState.FINISHED)

    async def boost(*tasks: Task) -> tuple[int, int]:
        boosts = [Boost(task_uid=task.uid, reason="the storage fills") for task in tasks]
        result = await wms.client.boost(Boosts(boosts=boosts, by=100.0))
        return result.raised, result.lowered

    assert await boost(first, ended, make_task()) == (1, 0)
    assert await boost(first) == (0, 0)
    assert await boost(second) == (1, 1)
    assert await boost() == (0, 1)
