"""Return the location of the log of a job."""

from dataclasses import dataclass

from sluice.clients.wms import WmsClient
from sluice.contracts.jobs.tasks import Job
from wfms.operator.chains.domain.errors import LogUnknown


@dataclass(frozen=True, slots=True)
class LogPlace:
    """The location of the log of an attempt."""

    attempt: int
    url: str


async def get_log_place(wms: WmsClient, job_id: int, *, attempt: int | None = None) -> LogPlace:
    """Return the location of the log of an attempt, or of the last attempt that has one.

    Raises:
        NotFound: There is no such job.
        LogUnknown: There is no log.
        NotAvailable: The WMS does not answer.
    """
    return _find_place(await wms.get_job(job_id), attempt)


def _find_place(job: Job, attempt: int | None) -> LogPlace:
    for candidate in sorted(job.attempts, key=lambda candidate: candidate.attempt, reverse=True):
        if candidate.log_url is not None and attempt in {None, candidate.attempt}:
            return LogPlace(candidate.attempt, candidate.log_url)
    subject = "no attempt" if attempt is None else f"attempt {attempt}"
    raise LogUnknown(job.id, f"{subject} has a log" if attempt is None else f"{subject} has none")
