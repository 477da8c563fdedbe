"""A limit of waiting jobs of a group or a person delays jobs without changing them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.access.quotas import HolderKind, Quantity, QuotaHolder
from sluice.contracts.common.states import InputMode, TaskMode, TaskState
from sluice.contracts.jobs.tasks import TaskInput
from sluice.contracts.templates.plan import MergeGroups
from tests.integration.wms.splitting.split_tasks import accept_new_task, list_jobs, make_dataset
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.tasks.quotas import WAITING
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks

ANNA = QuotaHolder(HolderKind.PERSON, "anna")
OCR = QuotaHolder(HolderKind.GROUP, "ocr")


async def limit_waiting(wms: WmsFixture, holder: QuotaHolder, max_jobs: int | None) -> None:
    async with wms.database.transaction() as transaction:
        await WAITING.set(transaction.connection, holder, {Quantity.WAITING: max_jobs})


async def count_waiting(wms: WmsFixture, holder: QuotaHolder) -> int:
    async with wms.database.connection() as connection:
        [holder_count] = await WAITING.holdings(connection, holder.kind, holder.name)
    return holder_count.has[Quantity.WAITING].used


async def split_and_run(
    wms: WmsFixture, dms: DmsClient, holder: QuotaHolder, *, max_jobs: int
) -> int:
    """Split and run until all jobs exist, and return the number of rounds."""
    pilot = await wms.add_pilot()
    for rounds in range(1, 200):
        await split_waiting_tasks(wms.context, dms, page=6)
        assert await count_waiting(wms, holder) <= max_jobs
        if all([(await wms.status(task)).state is TaskState.ACTIVE
                for task in wms.tasks.values()]):  # fmt: skip
            return rounds
        assert await wms.lease(pilot, 2)
    raise AssertionError("it does not come to its end")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"batch": 3},
        {"mode": TaskMode.MERGE, "groups": MergeGroups(files=2)},
        {"mode": TaskMode.MERGE, "groups": MergeGroups(files=2, tree=True)},
        {"mode": TaskMode.MERGE, "groups": MergeGroups(bytes=250)},
        {"mode": TaskMode.MERGE, "groups": MergeGroups()},
    ],
)
@pytest.mark.parametrize("max_jobs", [1, 4, 1000])
async def test_limit_of_waiting_jobs_holds_and_the_same_jobs_are_made(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, changes: dict[str, Any], max_jobs: int
) -> None:
    uid = await make_dataset(dms, tmp_path, files=25)
    free = await accept_new_task(wms, make_task(dat_in_uid=uid, group="spd", **changes))
    await split_waiting_tasks(wms.context, dms, page=6)
    await limit_waiting(wms, OCR, max_jobs)
    task = await accept_new_task(wms, make_task(dat_in_uid=uid, group="ocr", **changes))
    # A file may end a group and be a group itself as the last file. Both are made if nothing waits.
    last_two = max_jobs == 1 and changes.get("mode") is TaskMode.MERGE
    rounds = await split_and_run(wms, dms, OCR, max_jobs=max_jobs + last_two)
    jobs = await list_jobs(wms, task)
    assert jobs == await list_jobs(wms, free)
    assert (rounds > 1) == (len(jobs) > max_jobs + last_two)


async def test_reason_for_jobs_that_are_not_made_yet_is_shown(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    uid = await make_dataset(dms, tmp_path, files=10)
    await limit_waiting(wms, OCR, 3)
    task = await accept_new_task(wms, make_task(dat_in_uid=uid, group="ocr"))
    other = await accept_new_task(wms, make_task(dat_in_uid=uid, group="spd"))
    await split_waiting_tasks(wms.context, dms, page=4)
    status = await wms.status(task)
    assert (status.total, status.state) == (3, TaskState.SPLITTING)
    assert status.reason == (
        "the group ocr may have 3 jobs waiting, and has 3: more are created as these are leased"
    )
    assert (await wms.status(other)).total == 10
    explanation = await explain_task(wms.context, task.uid)
    assert explanation.text.endswith(f", 0 of 3 jobs finished); {status.reason}.")
    # A changed limit takes effect at once.
    await limit_waiting(wms, OCR, None)
    await split_waiting_tasks(wms.context, dms, page=4)
    status = await wms.status(task)
    assert (status.total, status.state, status.reason) == (10, TaskState.ACTIVE, "")


async def test_waiting_jobs_of_a_person_count_over_all_groups(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    uid = await make_dataset(dms, tmp_path, files=10)
    await limit_waiting(wms, ANNA, 7)
    await limit_waiting(wms, OCR, 5)
    tasks = [
        await accept_new_task(wms, make_task(dat_in_uid=uid, owner=owner, group=group, rank=rank))
        for owner, group, rank in [("anna", "ocr", 3), ("anna", "spd", 2), ("boris", "spd", 1)]
    ]
    await split_waiting_tasks(wms.context, dms, page=4)
    assert [(await wms.status(task)).total for task in tasks] == [5, 2, 10]
    assert await count_waiting(wms, ANNA) == 7


async def test_concurrent_splitters_keep_the_limit_of_waiting_jobs(
    wms: WmsFixture, other_wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    uid = await make_dataset(dms, tmp_path, files=20)
    await limit_waiting(wms, OCR, 13)
    for _ in range(6):
        await accept_new_task(wms, make_task(dat_in_uid=uid, group="ocr"))
    await asyncio.gather(
        *(split_waiting_tasks(at.context, dms, page=5) for at in (wms, other_wms) for _ in range(3))
    )
    assert 9 <= await count_waiting(wms, OCR) <= 13


async def test_limit_of_waiting_jobs_holds_for_joined_data_sets(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    one, two = [await make_dataset(dms, tmp_path / name, files=12) for name in ("one", "two")]
    inputs: dict[str, Any] = {
        "dat_in_uid": one,
        "side_inputs": [TaskInput(port="b", dat_in_uid=two, mode=InputMode.EACH)],
    }
    free = await accept_new_task(wms, make_task(group="spd", **inputs))
    await split_waiting_tasks(wms.context, dms, page=6)
    await limit_waiting(wms, OCR, 5)
    task = await accept_new_task(wms, make_task(group="ocr", **inputs))
    assert await split_and_run(wms, dms, OCR, max_jobs=5) > 1
    assert await list_jobs(wms, task) == await list_jobs(wms, free)
