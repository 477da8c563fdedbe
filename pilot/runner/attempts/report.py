"""Result of an attempt and its report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pilot.domain.model import StopReason
from pilot.runner.attempts.job_log import AttemptRecord
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.data.storage_space import FullStorage
from sluice.contracts.pilots.leases import LeasedJob
from sluice.contracts.pilots.output_files import LogFile, OutputFile
from sluice.contracts.pilots.reports import AttemptReport
from sluice.text.visible_text import visible_line


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Result of an attempt.

    Attributes:
        message: A sentence. Empty if the attempt succeeded.
        exit_code: The exit code. With None, the report has the exit code of the tool, if the tool
            has run.
    """

    outcome: AttemptOutcome
    error_class: ErrorClass | None = None
    message: str = ""
    exit_code: int | None = None
    gpu_full: bool = False
    no_space: FullStorage | None = None

    def __str__(self) -> str:
        return str(self.outcome) + (
            f" ({self.error_class}): {self.message}" if self.error_class else ""
        )


FINISHED = AttemptResult(AttemptOutcome.FINISHED)

STOPPED = {
    StopReason.CANCEL: AttemptResult(AttemptOutcome.CANCELED, ErrorClass.CANCELED, "canceled"),
    StopReason.LEASE: AttemptResult(
        AttemptOutcome.FAILED,
        ErrorClass.PILOT_LOST,
        "stopped: the pilot could not reach the WMS to renew its lease",
    ),
    StopReason.ABANDON: AttemptResult(
        AttemptOutcome.RETURNED, message="stopped: the job is no longer this pilot's"
    ),
    StopReason.SHUTDOWN: AttemptResult(
        AttemptOutcome.RETURNED, message="stopped: the pilot had to end"
    ),
}


def create_report(
    job: LeasedJob,
    end: AttemptResult,
    record: AttemptRecord,
    *,
    outputs: Sequence[OutputFile],
    log: LogFile | None,
) -> AttemptReport:
    """Return the report of an attempt.

    ``log`` is None if it was not stored.
    """
    program_end = record.program_end
    exit_code = (
        program_end.exit_code
        if program_end is not None and end.exit_code is None
        else end.exit_code
    )
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=end.outcome,
        started_at=record.started_at,
        ended_at=datetime.now(UTC),
        exit_code=exit_code,
        error_class=end.error_class,
        message=_shorten_message(end.message),
        outputs=list(outputs),
        log=log,
        peak_memory=None
        if program_end is None or program_end.memory is None
        else round(program_end.memory, 1),
        gpu_memory=0 if end.gpu_full else None,
        no_space=end.no_space,
        cpu_seconds=None
        if program_end is None or program_end.cpu is None
        else round(program_end.cpu, 4),
    )


def _shorten_message(message: str) -> str:
    """Return a message that fits in a report.

    The message may contain output of tools and names of their files.
    """
    return visible_line(message).encode(errors="backslashreplace").decode()[:4000]
