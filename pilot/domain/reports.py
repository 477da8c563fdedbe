"""Reports that the pilot writes for attempts that no slot reports."""

from datetime import datetime

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.pilots.leases import LeasedJob
from sluice.contracts.pilots.reports import AttemptReport


def build_canceled_report(job: LeasedJob, now: datetime) -> AttemptReport:
    """Return the report of a job that was canceled before it started."""
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.CANCELED,
        error_class=ErrorClass.CANCELED,
        message="canceled before it started",
        ended_at=now,
    )


def build_returned_report(job: LeasedJob, now: datetime) -> AttemptReport:
    """Return the report of a job that is given back unstarted."""
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.RETURNED,
        message="given back unstarted",
        ended_at=now,
    )


def build_lost_slot_report(job: LeasedJob, reason: str, now: datetime) -> AttemptReport:
    """Return the report of a job whose slot process ended."""
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.INTERNAL,
        message=f"the pilot's process that ran this job {reason}",
        ended_at=now,
    )


def build_lost_pilot_report(job_id: int, attempt: int, now: datetime) -> AttemptReport:
    """Return the report of a job that ran when the pilot ended."""
    return AttemptReport(
        id=job_id,
        attempt=attempt,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.PILOT_LOST,
        message="the pilot ended while it ran this job",
        ended_at=now,
    )


def build_unknown_task_report(job: LeasedJob, now: datetime) -> AttemptReport:
    """Return the report of a job whose task the WMS never described."""
    return AttemptReport(
        id=job.id,
        attempt=job.attempt,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.INTERNAL,
        message=f"the WMS leased this job without ever describing its task {job.task_uid}",
        ended_at=now,
    )
