"""The expected final state, as known from the generation of the data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: The source of a step that uses the first data set of the chain.
INPUT = "input"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that reads ``input`` or ``<step>/<port>``.

    ``group`` is the number of files in a job of a merge; None is a map with a job for each file. A
    job needs one of each resource in ``needs``.
    """

    name: str
    source: str
    ports: tuple[str, ...]
    group: int | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on a resource over all nodes: per ``period``, or at a time if it is None."""

    name: str
    amount: float
    period: str | None = None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A workflow with its outputs as ``<step>/<port>``.

    The first input and logs without failures are deleted in the end. ``limits`` apply to what the
    steps need.
    """

    template: str
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    limits: tuple[Limit, ...] = ()

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """A file with the name its tool gave it; ``sha256`` is None if the content has a time stamp."""

    name: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class ExpectedAnnotations:
    """Expected annotations of the first step, in ``words`` by the names of files.

    ``answer_counts`` counts the browsers with a confirmed annotation while the run lasts.
    """

    words: Mapping[str, str]
    answer_counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """A data set that goes through a pipeline.

    ``files`` and ``outputs`` are ordered. ``invalid_files`` are the files that the first step
    refuses. ``true_events_path`` has the events that the merged files of a detector run must have.
    ``human_task`` is set if the first step is a human task.
    """

    dataset: str
    pipeline: Pipeline
    files: Sequence[ExpectedFile]
    outputs: Mapping[str, Sequence[ExpectedFile]]
    invalid_files: frozenset[str] = frozenset()
    true_events_path: Path | None = None
    human_task: ExpectedAnnotations | None = None

    @property
    def jobs(self) -> int:
        """Return the number of jobs of all steps."""
        return sum(self.count_jobs(step) for step in self.pipeline.steps)

    def count_jobs(self, step: Step) -> int:
        files = self.count_input_files(step)
        return files if step.group is None else -(-files // step.group)

    def count_input_files(self, step: Step) -> int:
        if step.source == INPUT:
            return len(self.files)
        upstream = self.pipeline.step(step.source.split("/")[0])
        return self.count_jobs(upstream) - self.failed_jobs(upstream)

    def failed_jobs(self, step: Step) -> int:
        return len(self.invalid_files) if step.source == INPUT else 0


Expectation = Sequence[ExpectedRun]
