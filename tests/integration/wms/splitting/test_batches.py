"""Jobs of several files are made once, and their outputs are registered once."""

from pathlib import Path

import pytest

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import AttemptOutcome, InputMode, ReportAnswer, TaskState
from sluice.contracts.pilots.output_files import OutputFile
from sluice.contracts.pilots.reports import AttemptReport
from tests.integration.wms.splitting.joined_inputs import list_job_inputs, make_side_input
from tests.integration.wms.splitting.split_tasks import (
    DyingDmsClient,
    ProcessKilled,
    accept_new_task,
    make_dataset,
)
from tests.integration.wms.wms_fixture import CHECKSUM, NOW, WmsFixture, make_task
from wms.usecases.splitting.split_waiting_tasks import split_waiting_tasks


@pytest.mark.parametrize(
    ("batch", "expected"), [(2, [2] * 12 + [1]), (7, [7, 7, 7, 4]), (25, [25]), (100, [25])]
)
async def test_batches_are_the_same_after_a_kill_at_any_page(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path, batch: int, expected: list[int]
) -> None:
    """Invariants 7 and 8: another splitter continues, and the files keep their order."""
    task = await accept_new_task(
        wms, make_task(dat_in_uid=await make_dataset(dms, tmp_path, files=25), batch=batch)
    )
    killed_count = 0
    for pages in range(1, 12):
        try:
            await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=pages), page=3)
        except ProcessKilled:
            killed_count += 1
            await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
    jobs = await list_job_inputs(wms, task)
    assert killed_count >= 2
    assert [len(files) for _, files in jobs] == expected
    assert [seq for _, files in jobs for _, seq in files] == list(range(25))
    assert [seq for seq, _ in jobs] == [files[0][1] for _, files in jobs]


async def test_batches_over_several_data_sets_are_the_same_after_a_kill(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariants 7 and 8: files without a partner are in no batch."""
    first = await make_dataset(dms, tmp_path / "a", files=20)
    second = await make_dataset(dms, tmp_path / "b", files=10, seqs=list(range(0, 20, 2)))
    task = await accept_new_task(
        wms,
        make_task(
            dat_in_uid=first, side_inputs=[make_side_input("b", second, InputMode.EACH)], batch=4
        ),
    )
    totals = []
    for pages in range(1, 24):
        try:
            await split_waiting_tasks(wms.context, DyingDmsClient(dms, pages=pages), page=2)
        except ProcessKilled:
            await wms.execute("UPDATE tasks SET split_until = now(), split_checked_at = NULL")
        totals.append((await wms.status(task)).total)
    assert 0 in totals
    assert await list_job_inputs(wms, task) == [
        (
            first_seq,
            [
                pair
                for n in range(first_seq, min(first_seq + 8, 20), 2)
                for pair in (("", n), ("b", n))
            ],
        )
        for first_seq in (0, 8, 16)
    ]


async def test_duplicate_sequence_numbers_fail_the_task(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    uid = await make_dataset(dms, tmp_path, files=4, seqs=[0, 1, 1, 2])
    task = await accept_new_task(wms, make_task(dat_in_uid=uid, batch=4))
    await split_waiting_tasks(wms.context, dms)
    status = await wms.status(task)
    assert status.state is TaskState.FAILED
    assert "two files with sequence number 1" in status.reason


async def test_outputs_of_a_batch_are_registered_once(
    wms: WmsFixture, dms: DmsClient, tmp_path: Path
) -> None:
    """Invariant 3: a repeated report changes nothing. Each file has its own input's number."""
    task = await accept_new_task(
        wms, make_task(dat_in_uid=await make_dataset(dms, tmp_path, files=3), batch=3)
    )
    await split_waiting_tasks(wms.context, dms)
    pilot = await wms.add_pilot()
    [job] = await wms.lease(pilot, 5)
    names = [f"{seq:08d}.{job.attempt}-x" for seq in range(3)]
    report = AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.FINISHED,
        ended_at=NOW,
        outputs=[
            OutputFile(
                port="events",
                name=name,
                size=1,
                checksum=CHECKSUM,
                url=f"{task.main_output.dat_out_url}/{name}",
                number=seq,
            )
            for seq, name in enumerate(names)
        ],
    )
    assert [await wms.report(pilot, report) for _ in range(2)] == [
        [ReportAnswer.ACCEPTED],
        [ReportAnswer.ALREADY],
    ]
    assert (await wms.status(task)).state is TaskState.FINISHED
    [message] = (await wms.sent_messages()).messages[:1]
    assert [(file.seq, file.name, (file.origin or {})["inputs"]) for file in message.files] == [
        (seq, name, [f"f{seq:05}"]) for seq, name in enumerate(names)
    ]
    assert (await wms.sent_messages()).files[task.main_output.dat_out_uid] == list(enumerate(names))
    assert (await wms.sent_messages()).close_at[task.main_output.dat_out_uid] == [3]
