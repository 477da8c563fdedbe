"""Jobs with several entries.

The tool runs for one entry after the other. The outputs are stored together.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pilot.runner.files.job_files import JobFiles, OpenJobFile
from pilot.runner.files.staging import ProducedFile, open_output
from pilot.runner.programs.program import ProgramEnd
from sluice.contracts.jobs.job_inputs import InputFile, InputItem, JobInput
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.storage import copy_open, link_open


@dataclass(frozen=True, slots=True)
class JobEntry:
    """Inputs for one run of the tool.

    Attributes:
        number: The number of the entry, or None if the job has one entry.
    """

    number: int | None
    inputs: Sequence[JobInput]

    @property
    def files(self) -> list[InputFile]:
        """Return the input files of the entry."""
        return [file for file in self.inputs if isinstance(file, InputFile)]

    def items(self, task: PilotTask) -> dict[str, list[Any]]:
        """Return the list items of the entry by port, each as a list of one value."""
        return {
            item.port: [task.args[item.port][item.place]]
            for item in self.inputs
            if isinstance(item, InputItem)
        }


def job_entries(task: PilotTask, job: LeasedJob) -> list[JobEntry]:
    """Return the entries of a job in order.

    Files of several data sets that belong together have the same number.
    """
    if task.batch == 1:
        return [JobEntry(None, job.inputs)]
    numbers = dict.fromkeys(file.seq for file in job.inputs)
    return [
        JobEntry(number, [file for file in job.inputs if file.seq == number]) for number in numbers
    ]


def move_aside(
    files: Sequence[ProducedFile], folder: str, job_files: JobFiles
) -> list[ProducedFile]:
    """Move files to ``folder``, so that the job's folders can be emptied for the next entry.

    Raises:
        AttemptError: A file cannot be taken.
        OSError: A file cannot be stored.
    """
    moved: list[ProducedFile] = []
    first = len(os.listdir(folder))
    for number, file in enumerate(files, first):
        path = f"{folder}/{number}"
        with open_output(file, job_files) as opened:
            store_open_file(opened, path)
        moved.append(replace(file, path=path))
    return moved


def store_open_file(file: OpenJobFile, path: str) -> None:
    """Store an open file as ``path``, by a link if the file may be given away, else by a copy."""
    if file.is_movable and link_open(file.descriptor, path):
        return
    with open(path, "xb", buffering=0) as copy:
        copy_open(file.descriptor, copy.fileno())
        os.fchmod(copy.fileno(), os.fstat(file.descriptor).st_mode & 0o777)


def combine_runs(before: ProgramEnd | None, end: ProgramEnd) -> ProgramEnd:
    """Return the combined resource usage of two consecutive runs."""
    if before is None:
        return end
    memory = max(
        (memory for memory in (before.memory, end.memory) if memory is not None), default=None
    )
    cpu = None if before.cpu is None or end.cpu is None else before.cpu + end.cpu
    return replace(
        end,
        memory=memory,
        cpu=cpu,
        seconds=before.seconds + end.seconds,
        read=_add(before.read, end.read),
        written=_add(before.written, end.written),
    )


def _add(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
