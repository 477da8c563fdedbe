"""Which files a job that finished has no use for any more, and nobody else by its doing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.tasks import Task
from wms.domain.flow import inputs_that_come
from wms.domain.tree_merge import level_of

#: A job's inputs, as they are stored.
Inputs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class DoneWith:
    """Files of a data set, by number, that the task has read, as ``readers`` tasks are to."""

    dataset: UUID
    readers: int
    seqs: list[int]


def done_with(
    task: Task, jobs: Iterable[tuple[int, Inputs]], *, readers: Mapping[str, int]
) -> list[DoneWith]:
    """``jobs``: those that finished, with their numbers. ``readers``: by data set, of those whose
    files go one by one. Parts of a tree are read by one job each."""
    if not readers and task.parts_uid is None:
        return []
    ports = _ports(task)
    found: dict[UUID, list[int]] = {}
    for seq, inputs in jobs:
        parts = task.parts_uid if level_of(seq) else None
        for given in inputs:
            dataset = parts or ports.get(given.get("port", ""))
            if dataset is not None and (parts or str(dataset) in readers):
                found.setdefault(dataset, []).append(given["seq"])
    return [
        DoneWith(dataset, readers.get(str(dataset), 1), sorted(set(seqs)))
        for dataset, seqs in found.items()
    ]


def _ports(task: Task) -> dict[str, UUID]:
    """By port, as a job's inputs have it, what a job gets a file or a group of."""
    return {
        given.port if number else "": given.dat_in_uid
        for number, given in enumerate(inputs_that_come(task))
    }
