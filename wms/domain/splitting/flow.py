"""Dataflow scheduling: which tasks can take files as they come, and the jobs of these files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.common.naming import own_name
from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.jobs.job_inputs import InputFile
from sluice.contracts.jobs.tasks import Task, TaskInput
from sluice.contracts.templates.plan import MergeGroups
from wms.domain.splitting.grouping import Grouping, JobDraft, batched


def each_inputs(task: Task) -> list[TaskInput]:
    """Return the inputs of which each job of a map gets one file, the main one first."""
    return [given for given in task.inputs if given.mode is InputMode.EACH]


def inputs_that_come(task: Task) -> list[TaskInput]:
    """Return the inputs of which a job gets a file or a group of files."""
    return [task.main_input] if task.mode is TaskMode.MERGE else each_inputs(task)


def is_grouping(task: Task) -> bool:
    """Return whether its jobs are made of several entries, in order."""
    return task.mode is TaskMode.MERGE or task.batch > 1


def takes_as_they_come(task: Task) -> bool:
    """Return whether its jobs can be made of some files before all files exist.

    Inputs that all jobs share do not matter.
    """
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
    """Return whether the end of an upstream job suffices to make the downstream job of its file.

    The upstream job must have read all other files that the downstream job reads. If the files are
    grouped, the upstream jobs must also write them in order.
    """
    beside = {given.dat_in_uid for given in inputs_that_come(reader)} - {dataset}
    if beside and not (takes_as_they_come(writer) and not is_grouping(writer)):
        return False
    in_order = writer.parts_uid is None and not any(
        output.spread for output in writer.outputs if output.dat_out_uid == dataset
    )
    return beside <= set(_ports(writer)) and (in_order or not is_grouping(reader))


def _ports(task: Task) -> dict[UUID, str]:
    """Return the port of each data set's file among the inputs of a job; empty for the main one."""
    first, *others = each_inputs(task) or [task.main_input]
    return {given.dat_in_uid: given.port for given in others} | {first.dat_in_uid: ""}


def draft_of(
    reader: Task, writer: Task, file: NewFile, *, dataset: UUID, inputs: Sequence[Mapping[str, Any]]
) -> JobDraft:
    """Return the downstream task's job, or its part of one, for a file of an upstream job.

    It equals the job that would be made of the whole data sets. ``inputs`` are those of the
    upstream job.
    """
    ports = _ports(writer)
    by_port = {given.get("port", ""): given for given in inputs}
    files = []
    for number, given in enumerate(inputs_that_come(reader)):
        found = as_input(file) if given.dat_in_uid == dataset else by_port[ports[given.dat_in_uid]]
        port = given.port if number else ""
        files.append(InputFile.model_construct(**{**found, "seq": file.seq, "port": port}))
    return JobDraft(file.seq, files)


@dataclass(frozen=True, slots=True)
class GroupedJobs:
    """Jobs of consecutive entries; ``taken`` is the last entry in them, or None."""

    drafts: Sequence[JobDraft]
    taken: int | None


def group_entries(
    task: Task, entries: Sequence[JobDraft], *, number: int, last: bool
) -> GroupedJobs:
    """Return the jobs that these entries fill, as they would be made of the whole data set.

    ``number`` is that of the next group. ``last``: no entries follow.
    """
    drafts: list[JobDraft] = []
    if task.mode is TaskMode.MERGE:
        grouping = Grouping(task.mode, task.groups, number=number)
        drafts += grouping.add([file for entry in entries for file in entry.files])
        drafts += grouping.rest() if last else ()
        taken = [file.seq for draft in drafts for file in draft.inputs[-1:]]
        return GroupedJobs(drafts, max(taken, default=None))
    for first in range(0, len(entries), task.batch):
        batch = entries[first : first + task.batch]
        if last or len(batch) == task.batch:
            drafts.append(batched(batch))
    return GroupedJobs(drafts, drafts[-1].last_seq if drafts else None)


def as_input(file: NewFile) -> dict[str, Any]:
    """Return the file of a job as the input of another job, without its number."""
    return {
        "name": own_name(file.name),
        "size": file.size,
        "checksum": file.checksum,
        "url": file.url,
        "meta": dict(file.meta),
    }
