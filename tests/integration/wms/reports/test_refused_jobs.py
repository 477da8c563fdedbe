"""Jobs and tasks that people cannot be asked about fail permanently."""

from typing import Any

import pytest

from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ErrorClass, JobState, ReportAnswer, TaskMode, TaskState
from sluice.contracts.human_tasks.annotation import RefusedJob
from sluice.contracts.templates.plan import Boundary, MergeGroups
from tests.integration.wms.human_tasks import HumanTasks, make_answered_job
from tests.integration.wms.wms_fixture import NOW
from wms.db.jobs.job_pages import JobQuery
from wms.usecases.reports.accept_answers import accept_answers
from wms.usecases.reports.retry_job import retry_job
from wms.usecases.reports.retry_task import retry_task
from wms.usecases.tasks.get_job import get_job
from wms.usecases.tasks.list_jobs import list_jobs


async def test_job_that_people_cannot_be_asked_about_fails_permanently(
    human_tasks: HumanTasks,
) -> None:
    task = await human_tasks.create_task(files=3, boundary=Boundary(minimum=0.5))
    first, second, third = await human_tasks.list_jobs(task)
    no = RefusedJob(id=first.id, reason="it is not valid UTF-8", asked_at=NOW)
    accepted = await accept_answers(
        human_tasks.wms.context, task.uid, [make_answered_job(task, second)], [no, no]
    )
    assert [(one.id, one.answer) for one in accepted] == [
        (second.id, ReportAnswer.ACCEPTED),
        *[(first.id, ReportAnswer.ACCEPTED)] * 2,
    ]
    counts = {JobState.ASKED: 1, JobState.FINISHED: 1, JobState.FAILED: 1}
    assert await human_tasks.count_states(task) == counts
    details = await get_job(human_tasks.wms.context, first.id)
    assert (details.error_class, details.message) == (
        ErrorClass.TOOL_REFUSED,
        "it is not valid UTF-8",
    )
    assert [attempt.who for attempt in details.attempts] == ["people"]
    await retry_task(human_tasks.wms.context, task.uid)
    with pytest.raises(
        Conflict, match="its file cannot be shown to annotators: it is not valid UTF-8"
    ):
        await retry_job(human_tasks.wms.context, first.id)
    assert await human_tasks.count_states(task) == counts
    [second_answer] = await accept_answers(human_tasks.wms.context, task.uid, [], [no])
    assert second_answer.answer is ReportAnswer.STALE
    await human_tasks.answer(task, make_answered_job(task, third))
    status = await human_tasks.wms.status(task)
    assert (status.state, status.failed) == (TaskState.FINISHED, 1)
    sent = await human_tasks.wms.sent_messages()
    dataset = task.main_output.dat_out_uid
    assert sorted(sent.files[dataset]) == [(n, f"0000000{n}.1-answer.json") for n in (1, 2)]


@pytest.mark.parametrize(
    "changes",
    [
        {"batch": 2},
        {"mode": TaskMode.MERGE, "groups": MergeGroups(files=2)},
        {"mode": TaskMode.MERGE, "groups": MergeGroups(files=2, tree=True)},
        {"single": True},
    ],
)
async def test_human_task_with_several_files_per_job_fails(
    human_tasks: HumanTasks, changes: dict[str, Any]
) -> None:
    task = await human_tasks.create_task(files=4, **changes)
    status = await human_tasks.wms.status(task)
    assert (status.state, status.total) == (TaskState.FAILED, 0)
    assert status.reason == "a human task takes one file at a time and has one output"
    assert (await list_jobs(human_tasks.wms.context, task.uid, JobQuery())).jobs == []
