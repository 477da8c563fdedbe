"""The log of a job: its beginning and its end.

The DMS reads them, and only from storages that are configured for logs.
"""

from dataclasses import dataclass

from sluice.contracts.common.problems import NotAvailable, NotFound, Unprocessable
from wfms.operator.chains.domain.errors import LogUnknown
from wfms.operator.chains.domain.logs import log_text
from wfms.operator.chains.usecases.steps.get_log_place import get_log_place
from wfms.operator.context import OperatorContext


@dataclass(frozen=True, slots=True)
class LogText:
    """The text of a log.

    Attributes:
        size: Bytes of the whole log.
        cut: Whether the middle is left out, which ``text`` then says.
    """

    text: str
    size: int
    cut: bool
    attempt: int


async def read_log(context: OperatorContext, job_id: int, *, attempt: int | None = None) -> LogText:
    """Return the log that ``get_log_place`` finds; of a long log half of the text is from each end.

    Raises:
        NotFound: There is no such job.
        LogUnknown: There is no log, or it cannot be read.
        NotAvailable: The WMS does not answer.
    """
    dms = context.dms
    preview = context.log_preview
    place = await get_log_place(context.wms, job_id, attempt=attempt)
    half = preview // 2
    try:
        head, size = await dms.read_log_part(place.url, span=f"0-{half - 1}")
        tail = b""
        if size > half:
            tail, size = await dms.read_log_part(
                place.url, span=f"{half}-" if size <= preview else f"-{half}"
            )
    except Unprocessable as error:
        raise LogUnknown(
            job_id, f"it is outside the storages that are configured ({error.detail})"
        ) from error
    except (NotFound, NotAvailable) as error:
        raise LogUnknown(job_id, error.detail) from error
    return LogText(log_text(head, tail, size), size, size > len(head) + len(tail), place.attempt)
