"""How files become jobs: one or a few each (map), or groups in order (merge).

The files form a stream; the size of its pages does not change the result.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sluice.contracts.common.states import TaskMode
from sluice.contracts.jobs.job_inputs import InputFile, JobInput
from sluice.contracts.templates.plan import MergeGroups


@dataclass(frozen=True, slots=True)
class JobDraft:
    """A job that is to be made.

    Attributes:
        seq: Number of the first file (map), or of the group, from 0 (merge).
        last: Number of the last file of a batch.
    """

    seq: int
    inputs: Sequence[JobInput]
    last: int | None = None

    @property
    def files(self) -> list[InputFile]:
        """The inputs that are files."""
        return [job_input for job_input in self.inputs if isinstance(job_input, InputFile)]

    @property
    def last_seq(self) -> int:
        """The highest number that the job covers."""
        return self.seq if self.last is None else self.last


@dataclass(slots=True)
class Grouping:
    """Groups files: call ``add`` with files in order, then ``finish`` once.

    Attributes:
        number: The number of the group that is being filled.
    """

    mode: TaskMode
    groups: MergeGroups
    number: int = 0
    batch: int = 1
    _open: list[InputFile] = field(default_factory=list)
    _bytes: int = 0

    @property
    def waiting(self) -> int:
        """Number of files in the group that is not full yet."""
        return len(self._open)

    def add(self, files: Iterable[InputFile]) -> Iterator[JobDraft]:
        """Yield the jobs that these files complete."""
        for file in files:
            if self.mode is TaskMode.MAP:
                yield from self._add_to_batch(file)
                continue
            # In a tree a full group waits for the next file, so that the job of the last group is
            # known as the last when it is made.
            if self.groups.tree and self._is_full():
                yield self._pop_group()
            # A group is larger than requested only if a single file is.
            if (
                self._open
                and self.groups.bytes is not None
                and self._bytes + file.size > self.groups.bytes
            ):
                yield self._pop_group()
            self._open.append(file)
            self._bytes += file.size
            if self._is_full() and not self.groups.tree:
                yield self._pop_group()

    def finish(self) -> Iterator[JobDraft]:
        """Yield the last group if it has files.

        A merge of all files into one has a job even without files.
        """
        if self._open or self._writes_one_file:
            yield self._pop_group()

    @property
    def _writes_one_file(self) -> bool:
        """Whether it is a merge into one file.

        In a tree the last group always stays open, so an empty group means that there were no
        files.
        """
        return self.mode is TaskMode.MERGE and (self.groups.tree or self.groups == MergeGroups())

    def _add_to_batch(self, file: InputFile) -> Iterator[JobDraft]:
        # Wrong order; a check of consecutive jobs finds it.
        if self._open and file.seq <= self._open[-1].seq:
            yield self._pop_group()
        self._open.append(file)
        if len(self._open) >= self.batch:
            yield self._pop_group()

    def _is_full(self) -> bool:
        return self.groups.files is not None and len(self._open) >= self.groups.files

    def _pop_group(self) -> JobDraft:
        if self.mode is TaskMode.MAP:
            return merge_drafts([JobDraft(file.seq, [file]) for file in self._pop_files()])
        draft = JobDraft(self.number, self._pop_files())
        self.number += 1
        return draft

    def _pop_files(self) -> list[InputFile]:
        files, self._open, self._bytes = self._open, [], 0
        return files


def merge_drafts(drafts: Sequence[JobDraft]) -> JobDraft:
    """Return one job for several, in their order."""
    if len(drafts) == 1:
        return drafts[0]
    return JobDraft(
        drafts[0].seq, [file for draft in drafts for file in draft.inputs], drafts[-1].last_seq
    )
