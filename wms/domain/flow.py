"""Which tasks can take the files of the task before as they come, instead of waiting for all, and
what jobs these files make: one each, or one of several that lie behind one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.datasets import NewFile
from sluice.contracts.job_inputs import InputFile
from sluice.contracts.naming import own_name
from sluice.contracts.plan import MergeGroups
from sluice.contracts.states import InputMode, TaskMode
from sluice.contracts.tasks import Task, TaskInput
from wms.domain.grouping import Grouping, JobDraft, batched


def each_inputs(task: Task) -> list[TaskInput]:
    """Those of which a job of a map gets one file, the main one first."""
    return [given for given in task.inputs if given.mode is InputMode.EACH]


def inputs_that_come(task: Task) -> list[TaskInput]:
    """Those of which a job gets a file, or a group of files."""
    return [task.main_input] if task.mode is TaskMode.MERGE else each_inputs(task)


def gathers(task: Task) -> bool:
    """Are its jobs made of several entries, in order?"""
    return task.mode is TaskMode.MERGE or task.batch > 1


def takes_as_they_come(task: Task) -> bool:
    """Are jobs made of some of the files of these, before all are there? What all jobs get may be
    files, too."""
    in_parts = task.mode is TaskMode.MAP or task.groups != MergeGroups()
    return (
        in_parts
        and not task.single
        and not task.combines
        and all(
            given.pick is None and not given.next_inputs and not given.optional
            for given in inputs_that_come(task)
        )
    )


def can_follow(reader: Task, writer: Task, dataset: UUID) -> bool:
    """Has the job of the writer that gives a file for the data set all that the reader's job for it
    needs? What is read beside the file the writer has read, too. Where files are gathered, those of
    the writer's first jobs have to be the first ones."""
    beside = {given.dat_in_uid for given in inputs_that_come(reader)} - {dataset}
    if beside and not (takes_as_they_come(writer) and not gathers(writer)):
        return False
    in_order = writer.parts_uid is None and not any(
        output.spread for output in writer.outputs if output.dat_out_uid == dataset
    )
    return beside <= set(_ports(writer)) and (in_order or not gathers(reader))


def _ports(task: Task) -> dict[UUID, str]:
    """By data set, the port that its file has among the inputs of a job: none for the main one."""
    first, *others = each_inputs(task) or [task.main_input]
    return {given.dat_in_uid: given.port for given in others} | {first.dat_in_uid: ""}


def draft_of(
    reader: Task, writer: Task, file: NewFile, *, dataset: UUID, inputs: Sequence[Mapping[str, Any]]
) -> JobDraft:
    """The reader's job for what a job of the writer gave (or what that adds to one), as it would be
    made of the whole data sets. ``inputs``: of the writer's job."""
    ports = _ports(writer)
    by_port = {given.get("port", ""): given for given in inputs}
    files = []
    for number, given in enumerate(inputs_that_come(reader)):
        found = as_input(file) if given.dat_in_uid == dataset else by_port[ports[given.dat_in_uid]]
        port = given.port if number else ""
        files.append(InputFile.model_construct(**{**found, "seq": file.seq, "port": port}))
    return JobDraft(file.seq, files)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Jobs of entries that lie behind one another; ``taken``: the last one that is in them, None:
    none is."""

    drafts: Sequence[JobDraft]
    taken: int | None


def gathered(task: Task, entries: Sequence[JobDraft], *, number: int, last: bool) -> Gathered:
    """The jobs that these fill, as they would be made of the whole data set. ``number``: of the
    next group; ``last``: no entry comes behind them."""
    drafts: list[JobDraft] = []
    if task.mode is TaskMode.MERGE:
        grouping = Grouping(task.mode, task.groups, number=number)
        drafts += grouping.add([file for entry in entries for file in entry.files])
        drafts += grouping.rest() if last else ()
        taken = [file.seq for draft in drafts for file in draft.inputs[-1:]]
        return Gathered(drafts, max(taken, default=None))
    for first in range(0, len(entries), task.batch):
        batch = entries[first : first + task.batch]
        if last or len(batch) == task.batch:
            drafts.append(batched(batch))
    return Gathered(drafts, drafts[-1].last_seq if drafts else None)


def as_input(file: NewFile) -> dict[str, Any]:
    """What a job gave, as the input of another one: without its number."""
    return {
        "name": own_name(file.name),
        "size": file.size,
        "checksum": file.checksum,
        "url": file.url,
        "meta": dict(file.meta),
    }
