"""From the lease to the end of the task."""

import orjson

from sluice.contracts.states import AttemptOutcome, ErrorClass, JobState, ReportAnswer, TaskMode, TaskState
from tests.integration.wms.stage import CHECKSUM, Stage, make_task


async def test_task_runs_from_lease_to_end(stage: Stage) -> None:
    """Invariants 5 and 8: one end, counts that add up, output seq = input seq; close_at is exact."""
    task = await stage.add_task(make_task(), jobs=3)
    pilot = await stage.add_pilot()
    leased = await stage.leased(pilot, 10)
    assert [job.seq for job in leased.jobs] == [0, 1, 2]
    assert [orjson.loads(job.inputs)[0]["name"] for job in leased.jobs] == [f"frame-{n:04}.raw" for n in range(3)]
    assert [known.task.uid for known in leased.tasks] == [task.uid]
    assert (await stage.status(task)).leased == 3
    assert await stage.finish(pilot, *leased.jobs) == [ReportAnswer.ACCEPTED] * 3
    status = await stage.status(task)
    assert (status.state, status.finished, status.total) == (TaskState.FINISHED, 3, 3)
    sent = await stage.sent()
    assert sent.files[task.dat_out_uid] == [(n, f"events-{n}.1") for n in range(3)]
    assert sent.close_at == {task.dat_out_uid: [3], task.log_out_uid: [3]}
    assert [(event.uid, event.state) for event in sent.ended] == [(task.uid, TaskState.FINISHED)]
