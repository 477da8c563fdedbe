"""Which files the finished jobs of a task release."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.jobs.tasks import Task
from wms.domain.splitting.dataflow_rules import list_streamed_inputs
from wms.domain.splitting.tree_merge import get_level

#: A job's inputs, as they are stored.
Inputs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ReleasableFiles:
    """Files of a data set that a downstream task has read.

    Attributes:
        downstream_count: The number of downstream tasks.
        seqs: The numbers of the files.
    """

    dataset: UUID
    downstream_count: int
    seqs: list[int]


def find_releasable_files(
    task: Task, jobs: Iterable[tuple[int, Inputs]], *, downstream_counts: Mapping[str, int]
) -> list[ReleasableFiles]:
    """Return the files that finished jobs release.

    A part of a tree is read by one job only.

    Args:
        task: The task.
        jobs: Numbers and inputs of its finished jobs.
        downstream_counts: Number of downstream tasks of each data set whose files are deleted one
            by one.
    """
    if not downstream_counts and task.parts_uid is None:
        return []
    ports = _map_datasets(task)
    seqs_by_dataset: dict[UUID, list[int]] = {}
    for seq, inputs in jobs:
        parts = task.parts_uid if get_level(seq) else None
        for file in inputs:
            dataset = parts or ports.get(file.get("port", ""))
            if dataset is not None and (parts or str(dataset) in downstream_counts):
                seqs_by_dataset.setdefault(dataset, []).append(file["seq"])
    return [
        ReleasableFiles(dataset, downstream_counts.get(str(dataset), 1), sorted(set(seqs)))
        for dataset, seqs in seqs_by_dataset.items()
    ]


def _map_datasets(task: Task) -> dict[str, UUID]:
    """Return the data sets of which a job gets a file or a group, by port in the job."""
    return {
        task_input.port if number else "": task_input.dat_in_uid
        for number, task_input in enumerate(list_streamed_inputs(task))
    }
