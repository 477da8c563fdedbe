"""Reports on attempts that have ended."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import (
    Contract,
)
from sluice.contracts.common.states import (
    AttemptOutcome,
    ErrorClass,
    ReportAnswer,
)
from sluice.contracts.data.storage_space import FullStorage
from sluice.contracts.jobs.resources import (
    SpentAmounts,
)
from sluice.contracts.pilots.leases import JobToken
from sluice.contracts.pilots.output_files import LogFile, MeasuredAmount, OutputFile, ReportedTime


class AttemptReport(Contract):
    """A report on an attempt that has ended.

    Attributes:
        message: A sentence for people.
        gpu_memory: MiB of the GPU, or part of a GPU, that was full. 0 if it is not known. None if
            no GPU was full.
        checkpoint: The job may have checkpoints. The answer must say whether the job has ended.
        no_space: The full storage, if the attempt failed with ``no_space``.
        spent: Used amounts of the job's resources, if the tool reports them. A quota gets the rest
            back.
    """

    id: int
    attempt: int
    outcome: AttemptOutcome
    started_at: ReportedTime | None = None
    ended_at: ReportedTime
    exit_code: int | None = None
    error_class: ErrorClass | None = None
    message: Annotated[str, Field(max_length=4000)] = ""
    outputs: list[OutputFile] = Field(default_factory=list)
    log: LogFile | None = None
    peak_memory: MeasuredAmount | None = None
    cpu_seconds: MeasuredAmount | None = None
    gpu_memory: Annotated[int | None, Field(ge=0, le=2**31 - 1)] = None
    checkpoint: bool = False
    no_space: FullStorage | None = None
    spent: SpentAmounts = Field(default_factory=dict)


class Report(Contract):
    """A report on attempts that have ended."""

    reports: Annotated[list[AttemptReport], Field(min_length=1, max_length=1024)]


class AnsweredReport(JobToken):
    """The answer to the report on one attempt.

    Attributes:
        ended: The job has ended, with this attempt or another. Present if the report has
            ``checkpoint``.
    """

    answer: ReportAnswer
    ended: bool = False


class ReportAnswers(Contract):
    """The answers to a report, one for each attempt."""

    answers: list[AnsweredReport]
