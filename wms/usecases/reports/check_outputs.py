"""Let the DMS check the outputs in reports before the reports count."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.data.stated_files import StatedFile
from sluice.contracts.pilots.reports import AttemptReport
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: (job, attempt) → what is wrong with one of its outputs.
OutputFaults = Mapping[tuple[int, int], str]
NO_FAULTS: OutputFaults = MappingProxyType({})

#: Files per request.
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """How outputs are checked.

    Attributes:
        content: Whether the DMS also reads them.
    """

    dms: DmsClient
    content: bool


async def check_outputs(
    check: OutputCheck | None, reports: Sequence[AttemptReport]
) -> OutputFaults:
    """Check the outputs of reports of success, if that is configured.

    If the DMS does not answer or cannot check, the reports are accepted, so that no work is lost.
    """
    if check is None:
        return NO_FAULTS
    outputs = [
        ((report.id, report.attempt), output)
        for report in reports
        if report.outcome is AttemptOutcome.FINISHED
        for output in report.outputs
    ]
    faults: dict[tuple[int, int], str] = {}
    for start in range(0, len(outputs), _AT_ONCE):
        batch = outputs[start : start + _AT_ONCE]
        files = [
            StatedFile(url=output.url, size=output.size, checksum=output.checksum)
            for _, output in batch
        ]
        try:
            answers = await check.dms.check_stated_files(files=files, content=check.content)
        except NotAvailable as error:
            log.warning("outputs.not_looked_at", reason=error.detail, files=len(files))
            continue
        for (key, output), fault in zip(batch, answers, strict=True):
            if fault is not None:
                faults[key] = f"output file {quoted(output.name)} at {output.url}: {fault}"
    return faults
