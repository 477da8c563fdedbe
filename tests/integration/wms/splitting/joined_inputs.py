"""Inputs of tasks that join several data sets."""

from typing import Any
from uuid import UUID

from sluice.contracts.common.states import InputMode
from sluice.contracts.jobs.tasks import Task, TaskInput
from tests.integration.wms.wms_fixture import WmsFixture


def make_side_input(
    port: str, dataset: UUID, mode: InputMode, *, optional: bool = False
) -> TaskInput:
    return TaskInput(port=port, dat_in_uid=dataset, mode=mode, optional=optional)


async def list_job_inputs(wms: WmsFixture, task: Task) -> list[tuple[int, list[tuple[str, int]]]]:
    """Return the number of each job with the port and number of each of its files."""
    async with wms.database.connection() as connection:
        rows: list[Any] = await connection.fetch(
            "SELECT seq, inputs FROM jobs WHERE task_uid = $1 ORDER BY id", task.uid
        )
    return [
        (row["seq"], [(file.get("port", ""), file["seq"]) for file in row["inputs"]])
        for row in rows
    ]
