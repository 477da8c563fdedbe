"""Which tasks can take the files of the task before as they come, instead of waiting for all."""

from typing import Any

from sluice.contracts.datasets import NewFile
from sluice.contracts.naming import own_name
from sluice.contracts.pilots import InputFile
from sluice.contracts.states import InputMode, TaskMode
from sluice.contracts.tasks import Task
from wms.domain.grouping import JobDraft


def takes_as_they_come(task: Task) -> bool:
    """Is a job made of each file of the main input by itself, in whatever order these come? What
    all jobs get may be files, too."""
    main = task.main_input
    return (
        task.mode is TaskMode.MAP
        and task.batch == 1
        and not task.single
        and main.pick is None
        and not main.next_inputs
        and all(side.mode is not InputMode.EACH for side in task.side_inputs)
    )


def as_input(file: NewFile) -> dict[str, Any]:
    """What a job gave, as the input of another one: without its number."""
    return {
        "name": own_name(file.name),
        "size": file.size,
        "checksum": file.checksum,
        "url": file.url,
        "meta": dict(file.meta),
    }


def drafts_of(files: list[NewFile]) -> list[JobDraft]:
    """A job for each."""
    return [
        JobDraft(file.seq, [InputFile.model_construct(seq=file.seq, port="", **as_input(file))])
        for file in files
    ]
