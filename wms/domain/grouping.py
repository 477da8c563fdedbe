"""How files become jobs: one each, or a few (map), or groups in order (merge). A stream: pages of
any size give the same."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sluice.contracts.job_inputs import InputFile, JobInput
from sluice.contracts.plan import MergeGroups
from sluice.contracts.states import TaskMode


@dataclass(frozen=True, slots=True)
class JobDraft:
    """``seq``: the first file's own (map), the group's number from 0 (merge). ``last``: the last
    file's, in a batch."""

    seq: int
    inputs: Sequence[JobInput]
    last: int | None = None

    @property
    def files(self) -> list[InputFile]:
        return [given for given in self.inputs if isinstance(given, InputFile)]

    @property
    def last_seq(self) -> int:
        return self.seq if self.last is None else self.last


@dataclass(slots=True)
class Grouping:
    """Feed it files in order with ``add``, then ask once for ``rest``. ``number``: of the group
    being filled."""

    mode: TaskMode
    groups: MergeGroups
    number: int = 0
    batch: int = 1
    _open: list[InputFile] = field(default_factory=list)
    _bytes: int = 0

    @property
    def waiting(self) -> int:
        """Files in the group that is not full yet."""
        return len(self._open)

    def add(self, files: Iterable[InputFile]) -> Iterator[JobDraft]:
        """The jobs that these files complete."""
        for file in files:
            if self.mode is TaskMode.MAP:
                yield from self._add_to_batch(file)
                continue
            # Of a tree a group waits for the next file, so that the last one is known to be that
            # when its job is made.
            if self.groups.tree and self._is_full():
                yield self._take()
            # A group may be larger than asked for only when a single file is.
            if (
                self._open
                and self.groups.bytes is not None
                and self._bytes + file.size > self.groups.bytes
            ):
                yield self._take()
            self._open.append(file)
            self._bytes += file.size
            if self._is_full() and not self.groups.tree:
                yield self._take()

    def rest(self) -> Iterator[JobDraft]:
        """The last group, if there are files in it; a merge of all files into one has a job even
        where there are none."""
        if self._open or self._gives_one_file:
            yield self._take()

    @property
    def _gives_one_file(self) -> bool:
        """Of a tree a group stays open as long as there may be more files: none is open only where
        there were none at all."""
        return self.mode is TaskMode.MERGE and (self.groups.tree or self.groups == MergeGroups())

    def _add_to_batch(self, file: InputFile) -> Iterator[JobDraft]:
        if (
            self._open and file.seq <= self._open[-1].seq
        ):  # not right, and seen to be so between two jobs
            yield self._take()
        self._open.append(file)
        if len(self._open) >= self.batch:
            yield self._take()

    def _is_full(self) -> bool:
        return self.groups.files is not None and len(self._open) >= self.groups.files

    def _take(self) -> JobDraft:
        if self.mode is TaskMode.MAP:
            return batched([JobDraft(file.seq, [file]) for file in self._emptied()])
        draft = JobDraft(self.number, self._emptied())
        self.number += 1
        return draft

    def _emptied(self) -> list[InputFile]:
        files, self._open, self._bytes = self._open, [], 0
        return files


def batched(drafts: Sequence[JobDraft]) -> JobDraft:
    """One job for what would be several, in their order."""
    if len(drafts) == 1:
        return drafts[0]
    return JobDraft(
        drafts[0].seq, [file for draft in drafts for file in draft.inputs], drafts[-1].last_seq
    )
