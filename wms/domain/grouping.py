"""How files become jobs: one each (map), or groups in order (merge). A stream: pages of any size give the same jobs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sluice.contracts.pilots import InputFile
from sluice.contracts.plan import MergeGroups
from sluice.contracts.states import TaskMode


@dataclass(frozen=True, slots=True)
class JobDraft:
    """``seq``: the file's own (map), the group's number from 0 (merge)."""

    seq: int
    inputs: list[InputFile]


@dataclass(slots=True)
class Grouping:
    """Feed it files in order with ``add``, then ask once for ``rest``. ``number``: of the group being filled."""

    mode: TaskMode
    groups: MergeGroups
    number: int = 0
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
                yield JobDraft(file.seq, [file])
                continue
            # A group may be larger than asked for only when a single file is.
            if self._open and self.groups.bytes is not None and self._bytes + file.size > self.groups.bytes:
                yield self._take()
            self._open.append(file)
            self._bytes += file.size
            if self.groups.files is not None and len(self._open) >= self.groups.files:
                yield self._take()

    def rest(self) -> Iterator[JobDraft]:
        """The last group, if there are files in it."""
        if self._open:
            yield self._take()

    def _take(self) -> JobDraft:
        draft = JobDraft(self.number, self._open)
        self.number += 1
        self._open, self._bytes = [], 0
        return draft
