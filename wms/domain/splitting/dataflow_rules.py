"""Dataflow scheduling: which tasks can stream files, and the jobs of these files."""

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
from wms.domain.splitting.grouping import Grouping, JobDraft, merge_drafts


def list_scattered_inputs(task: Task) -> list[TaskInput]:
    """Return the inputs from which a map gives each job one file, the main input first."""
    return [task_input for task_input in task.inputs if task_input.mode is InputMode.EACH]


def list_streamed_inputs(task: Task) -> list[TaskInput]:
    """Return the inputs of which a job gets a file or a group of files."""
    return [task.main_input] if task.mode is TaskMode.MERGE else list_scattered_inputs(task)


def is_grouping(task: Task) -> bool:
    """Return whether its jobs are made of several entries, in order."""
    return task.mode is TaskMode.MERGE or task.batch > 1


def can_stream_inputs(task: Task) -> bool:
    """Return whether its jobs can be made of some files before all files exist.

    Inputs that all jobs share do not matter.
    """
    in_parts = task.mode is TaskMode.MAP or task.groups != MergeGroups()
    return (
        in_parts
        and not task.single
        and not task.combines
        and all(
            task_input.pick is None and not task_input.next_inputs and not task_input.optional
            for task_input in list_streamed_inputs(task)
        )
    )


def can_follow(downstream: Task, upstream: Task, dataset: UUID) -> bool:
    """Return whether the end of an upstream job suffices to make the downstream job of its file.

    The upstream job must have read all other files that the downstream job reads. If the files are
    grouped, the upstream jobs must also write them in order.
    """
    beside = {task_input.dat_in_uid for task_input in list_streamed_inputs(downstream)} - {dataset}
    if beside and not (can_stream_inputs(upstream) and not is_grouping(upstream)):
        return False
    in_order = upstream.parts_uid is None and not any(
        output.spread for output in upstream.outputs if output.dat_out_uid == dataset
    )
    return beside <= set(_map_ports(upstream)) and (in_order or not is_grouping(downstream))


def _map_ports(task: Task) -> dict[UUID, str]:
    """Return the port of each data set's file among the inputs of a job; empty for the main one."""
    first, *others = list_scattered_inputs(task) or [task.main_input]
    return {task_input.dat_in_uid: task_input.port for task_input in others} | {
        first.dat_in_uid: ""
    }


def build_draft(
    downstream: Task,
    upstream: Task,
    file: NewFile,
    *,
    dataset: UUID,
    inputs: Sequence[Mapping[str, Any]],
) -> JobDraft:
    """Return the downstream task's job, or its part of one, for a file of an upstream job.

    It equals the job that would be made of the whole data sets. ``inputs`` are those of the
    upstream job.
    """
    ports = _map_ports(upstream)
    by_port = {task_input.get("port", ""): task_input for task_input in inputs}
    files = []
    for number, task_input in enumerate(list_streamed_inputs(downstream)):
        input_file = (
            dump_input(file)
            if task_input.dat_in_uid == dataset
            else by_port[ports[task_input.dat_in_uid]]
        )
        port = task_input.port if number else ""
        files.append(InputFile.model_construct(**{**input_file, "seq": file.seq, "port": port}))
    return JobDraft(file.seq, files)


@dataclass(frozen=True, slots=True)
class GroupedJobs:
    """Jobs of consecutive entries.

    Attributes:
        last_entry: The last entry in them, or None.
    """

    drafts: Sequence[JobDraft]
    last_entry: int | None


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
        drafts += grouping.finish() if last else ()
        entries_in_jobs = [file.seq for draft in drafts for file in draft.inputs[-1:]]
        return GroupedJobs(drafts, max(entries_in_jobs, default=None))
    for start in range(0, len(entries), task.batch):
        batch = entries[start : start + task.batch]
        if last or len(batch) == task.batch:
            drafts.append(merge_drafts(batch))
    return GroupedJobs(drafts, drafts[-1].last_seq if drafts else None)


def dump_input(file: NewFile) -> dict[str, Any]:
    """Return the file of a job as the input of another job, without its number."""
    return {
        "name": own_name(file.name),
        "size": file.size,
        "checksum": file.checksum,
        "url": file.url,
        "meta": dict(file.meta),
    }
