"""What must be there at the end, as the one who made the data knows it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: The data set that a chain starts from, as a step's source.
INPUT = "input"


@dataclass(frozen=True, slots=True)
class Step:
    """``reads``: ``input`` or ``<step>/<port>``. ``group``: files a job of a merge takes; None: a
    map, a job per file. ``needs``: resources that a job needs one of each."""

    name: str
    reads: str
    ports: tuple[str, ...]
    group: int | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """Of a resource, over all nodes. ``period``: in each so many; None: so many at a time."""

    name: str
    amount: float
    period: str | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``outputs``: ``<step>/<port>`` of the workflow's outputs. The first input and clean logs are
    deleted in the end. ``limits``: on what its steps need."""

    template: str
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    limits: tuple[Limit, ...] = ()

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """``name``: as its tool called it. ``sha256``: None where the tool writes the hour into it,
    too."""

    name: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What people say of the files that the first step asks about. ``words``: by name. ``taken``:
    how many browsers were told that the service has their answer; counted while it runs."""

    words: Mapping[str, str]
    taken: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """One data set through one pipeline. ``files``: name and sha256, in order. ``refused``: those
    that the first step refuses. ``outputs``: by ``<step>/<port>``, in order. ``truth``: of a
    detector run, what its merged events must be. ``asked``: where its first step asks people."""

    dataset: str
    pipeline: Pipeline
    files: Sequence[ExpectedFile]
    outputs: Mapping[str, Sequence[ExpectedFile]]
    refused: frozenset[str] = frozenset()
    truth: Path | None = None
    asked: Asked | None = None

    @property
    def jobs(self) -> int:
        """Of all steps."""
        return sum(self.jobs_of(step) for step in self.pipeline.steps)

    def jobs_of(self, step: Step) -> int:
        files = self.files_read(step)
        return files if step.group is None else -(-files // step.group)

    def files_read(self, step: Step) -> int:
        if step.reads == INPUT:
            return len(self.files)
        writer = self.pipeline.step(step.reads.split("/")[0])
        return self.jobs_of(writer) - self.failed_jobs(writer)

    def failed_jobs(self, step: Step) -> int:
        return len(self.refused) if step.reads == INPUT else 0


Expectation = Sequence[ExpectedRun]
