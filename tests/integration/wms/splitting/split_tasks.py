"""Data sets and tasks to split, and a process that dies while it splits them."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sluice.clients.dms import DmsClient
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.datasets import NewDataset, NewFile
from sluice.contracts.jobs.tasks import Task
from tests.integration.wms.wms_fixture import CHECKSUM, WmsFixture
from wms.usecases.tasks.accept_task import accept_task


async def make_dataset(
    dms: DmsClient, folder: Path, *, files: int, close: bool = True, seqs: list[int] | None = None
) -> UUID:
    kind = (
        DatasetType.INPUT if files else DatasetType.INTERMEDIATE
    )  # an input without files cannot be closed
    if seqs and len(set(seqs)) < files:
        kind = DatasetType.LOGS  # other data sets refuse equal numbers
    dataset = await dms.register_dataset(NewDataset(name=f"d-{uuid4()}", type=kind))
    new = [
        NewFile(
            seq=seq,
            name=f"f{n:05}",
            size=100 + n % 7,
            checksum=CHECKSUM,
            url=f"file://{folder}/{n}",
            meta={"n": n},
        )
        for n, seq in enumerate(seqs or range(files))
    ]
    if new:
        await dms.register_many_files(dataset.uid, new)
    if close:
        await dms.close_dataset(dataset.uid)
    return dataset.uid


async def accept_new_task(wms: WmsFixture, task: Task) -> Task:
    wms.tasks[task.uid] = task
    async with wms.database.transaction() as transaction:
        await accept_task(transaction, task)
    return task


async def list_jobs(wms: WmsFixture, task: Task) -> list[tuple[int, list[str]]]:
    async with wms.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT seq, inputs FROM jobs WHERE task_uid = $1 ORDER BY id", task.uid
        )
    return [(row["seq"], [file["name"] for file in row["inputs"]]) for row in rows]


class ProcessKilled(BaseException):
    """The death of the process, which nothing handles."""


class DyingDmsClient(DmsClient):
    """A client that dies when it is asked for a page more than ``pages``."""

    def __init__(self, dms: DmsClient, *, pages: int) -> None:
        super().__init__(dms._http)
        self._remaining_pages = pages

    async def list_files(self, uid: UUID, **changes: Any) -> Any:
        if self._remaining_pages == 0:
            raise ProcessKilled
        self._remaining_pages -= 1
        return await super().list_files(uid, **changes)
