"""The beginning of a job's log, from the storages that the DMS knows and from nowhere else."""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sluice import storage
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.tasks import Job
from wfms.operator.domain.errors import LogUnknown


@dataclass(frozen=True, slots=True)
class LogText:
    """``cut``: there is more than ``text``. ``size``: bytes of the whole log."""

    text: str
    size: int
    cut: bool
    attempt: int


async def read_log(dms: DmsClient, wms: WmsClient, job_id: int, *, most: int, attempt: int | None = None) -> LogText:
    """Precondition: none. Effect: none. ``most``: bytes shown. The log of ``attempt``, or of the last one that has a log.
    Raises ``NotFound`` (the job), ``LogUnknown``, ``NotAvailable``."""
    job = await wms.job(job_id)
    number, url = _place(job, attempt)
    roots = [one.url for one in await dms.storages(everything=True)]
    return await asyncio.to_thread(_read, job, url, roots=roots, attempt=number, most=most)


def _place(job: Job, attempt: int | None) -> tuple[int, str]:
    for one in sorted(job.attempts, key=lambda one: one.attempt, reverse=True):
        if one.log_url is not None and attempt in {None, one.attempt}:
            return one.attempt, one.log_url
    which = "no attempt" if attempt is None else f"attempt {attempt}"
    raise LogUnknown(job.id, f"{which} has left one" if attempt is None else f"{which} has none")


def _read(job: Job, url: str, *, roots: list[str], attempt: int, most: int) -> LogText:
    root = next((root for root in roots if storage.within(root, url)), None)
    if root is None:
        raise LogUnknown(job.id, "it lies outside the storages that are configured")
    with tempfile.TemporaryDirectory(prefix="sluice-log-") as folder:
        path = Path(folder) / "log"
        try:
            storage.fetch(url, path, checksum=None, size=None)
            size = path.stat().st_size
            with path.open("rb") as file:
                data = file.read(most)
        except storage.FileMissing as error:
            place = storage.local_path(root)
            seen = place is None or os.path.isdir(place)
            unseen = f"the operator service does not see its storage {root}: mount it there, at this path"
            raise LogUnknown(job.id, "it has been deleted" if seen else unseen) from error
        except (storage.StorageError, OSError) as error:
            raise LogUnknown(job.id, f"its storage does not give it: {error}") from error
    return LogText(data.decode("utf-8", "replace"), size, size > len(data), attempt)
