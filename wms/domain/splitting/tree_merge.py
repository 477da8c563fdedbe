"""Merges in levels: which job is the last, and where the files of all jobs go.

Job i of level n has the seq ``n · SPAN + i``.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.data.datasets import NewFile
from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.dataflow_rules import dump_input

#: More jobs than a level has.
SPAN = 10**9

Files = Sequence[tuple[UUID, NewFile]]


def get_level(seq: int) -> int:
    """Return the level of a job; jobs of level 0 read the files of the data set."""
    return seq // SPAN


def place_files(
    task: Task, files: Files, *, seq: int, only_seq: int | None
) -> list[tuple[UUID, NewFile]]:
    """Return the files of a job with the data set of each.

    The files of a job go to the parts, unless it is the only one of its level (``only_seq``): then
    its file is the output of the step.
    """
    if task.parts_uid is None:
        return list(files)
    if seq == only_seq:
        return [
            (
                uid,
                file if uid != task.main_output.dat_out_uid else file.model_copy(update={"seq": 0}),
            )
            for uid, file in files
        ]
    return [
        (task.parts_uid if uid == task.main_output.dat_out_uid else uid, file)
        for uid, file in files
    ]


def find_part(task: Task, files: Files) -> dict[str, Any] | None:
    """Return the file of a finished job that the next level reads, as an input of a job."""
    for uid, file in files:
        if uid == task.parts_uid:
            return dump_input(file)
    return None
