"""Reports on their way to the WMS: in the spool first, sent in batches, removed when answered."""

import asyncio

import structlog

from pilot.domain.model import Token
from pilot.spool import Spool
from sluice.contracts.pilots import AttemptReport, ReportAnswers
from sluice.contracts.states import ReportAnswer
from sluice.storage import StorageError, remove

log = structlog.get_logger(__name__)

#: Reports in one call.
_MOST_A_CALL = 512


class Outbox:
    """Keeps the order of arrival. ``waiting`` is set while there is something to send."""

    def __init__(self, spool: Spool) -> None:
        self.waiting = asyncio.Event()
        self.empty = asyncio.Event()
        self.empty.set()
        self._spool = spool
        self._reports: dict[Token, AttemptReport] = {}

    def add(self, report: AttemptReport, *, spooled: bool) -> None:
        if not spooled:
            try:
                self._spool.write(report)
            except OSError as error:  # a full disk: the report is sent all the same, only a kill would lose it
                log.error("report.not_spooled", job=report.id, attempt=report.attempt, error=str(error))
        self._reports[(report.id, report.attempt)] = report
        self._signal()

    def add_spooled(self, token: Token) -> None:
        report = self._spool.read(token)
        if report is not None:
            self.add(report, spooled=True)

    def next_batch(self) -> list[AttemptReport]:
        return [report for report, _ in zip(self._reports.values(), range(_MOST_A_CALL), strict=False)]

    async def answered(self, batch: list[AttemptReport], answers: ReportAnswers) -> None:
        """Files of attempts that are no longer their job's are removed; then the reports are done with."""
        by_token = {(answer.id, answer.attempt): answer.answer for answer in answers.answers}
        for report in batch:
            token = (report.id, report.attempt)
            answer = by_token.get(token)
            if answer is None:
                continue
            if answer is ReportAnswer.STALE:
                log.warning("report.stale", job=report.id, attempt=report.attempt, outcome=report.outcome)
                await asyncio.to_thread(remove_files, report)
            self._spool.remove(token)
            self._reports.pop(token, None)
        self._signal()

    def refused(self, report: AttemptReport, reason: str) -> None:
        """The WMS cannot understand it: it stays in the spool for a person, and no longer holds up the others."""
        log.error("report.refused", job=report.id, attempt=report.attempt, reason=reason)
        self._reports.pop((report.id, report.attempt), None)
        self._signal()

    def _signal(self) -> None:
        if self._reports:
            self.waiting.set()
            self.empty.clear()
        else:
            self.waiting.clear()
            self.empty.set()


def remove_files(report: AttemptReport) -> None:
    """Removes from their storages the files that an attempt wrote."""
    for url in [*(output.url for output in report.outputs), *([report.log.url] if report.log else [])]:
        try:
            remove(url)
        except StorageError as error:
            log.error("report.file_not_removed", job=report.id, attempt=report.attempt, url=url, reason=error.reason)
