"""Which tasks can take the files of the task before as they come, instead of waiting for all, and
what jobs these files make."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sluice.contracts.datasets import NewFile
from sluice.contracts.naming import own_name
from sluice.contracts.pilots import InputFile
from sluice.contracts.states import InputMode, TaskMode
from sluice.contracts.tasks import Task, TaskInput
from wms.domain.grouping import JobDraft


def each_inputs(task: Task) -> list[TaskInput]:
    """Those of which a job of a map gets one file, the main one first."""
    return [given for given in task.inputs if given.mode is InputMode.EACH]


def takes_as_they_come(task: Task) -> bool:
    """Is a job made of one file of each of these, in whatever order they come? What all jobs get
    may be files, too."""
    return (
        task.mode is TaskMode.MAP
        and task.batch == 1
        and not task.single
        and all(
            given.pick is None and not given.next_inputs and not given.optional
            for given in each_inputs(task)
        )
    )


def can_follow(reader: Task, writer: Task, dataset: UUID) -> bool:
    """Has the job of the writer that gives a file for the data set all that the reader's job for it
    needs? What is read beside the file the writer has read, too."""
    beside = {given.dat_in_uid for given in each_inputs(reader)} - {dataset}
    return beside <= set(_ports(writer)) and (not beside or takes_as_they_come(writer))


def _ports(task: Task) -> dict[UUID, str]:
    """By data set, the port that its file has among the inputs of a job: none for the main one."""
    first, *others = each_inputs(task) or [task.main_input]
    return {given.dat_in_uid: given.port for given in others} | {first.dat_in_uid: ""}


def draft_of(
    reader: Task, writer: Task, file: NewFile, *, dataset: UUID, inputs: Sequence[Mapping[str, Any]]
) -> JobDraft:
    """The reader's job for what a job of the writer gave, as it would be made of the whole data
    sets. ``inputs``: of the writer's job."""
    ports = _ports(writer)
    by_port = {given.get("port", ""): given for given in inputs}
    files = []
    for number, given in enumerate(each_inputs(reader)):
        found = as_input(file) if given.dat_in_uid == dataset else by_port[ports[given.dat_in_uid]]
        port = given.port if number else ""
        files.append(InputFile.model_construct(**{**found, "seq": file.seq, "port": port}))
    return JobDraft(file.seq, files)


def as_input(file: NewFile) -> dict[str, Any]:
    """What a job gave, as the input of another one: without its number."""
    return {
        "name": own_name(file.name),
        "size": file.size,
        "checksum": file.checksum,
        "url": file.url,
        "meta": dict(file.meta),
    }
