"""Outbox of reports: journaled first, sent in batches, kept until answered."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import structlog

from pilot.domain.model import Token
from pilot.reports.file_remover import FileRemover, files_of
from pilot.reports.journal import Journal, UnansweredReports
from sluice.contracts.common.states import ReportAnswer
from sluice.contracts.pilots.pilots import AttemptReport, ReportAnswers
from sluice.text.os_errors import sentence_of

log = structlog.get_logger(__name__)

#: Maximum number of reports in one request.
_MAX_PER_CALL = 512


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """A report that the WMS has not answered.

    ``journal`` is the name of its journal, or None.
    """

    report: AttemptReport
    journal: str | None


class Outbox:
    """Reports for the WMS in the order of their arrival.

    ``waiting`` is set while there are reports, ``empty`` while there are none.
    """

    def __init__(self, journals: Path, leftovers: FileRemover) -> None:
        self.leftovers = leftovers
        self.waiting = asyncio.Event()
        self.empty = asyncio.Event()
        self.empty.set()
        self._journal = Journal(journals, "pilot")
        self._ledger = UnansweredReports(journals)
        self._unanswered: dict[Token, _Unanswered] = {}

    def add(self, report: AttemptReport, journal: str | None = None) -> None:
        """Add a report.

        ``journal`` names the journal that already has the report. Otherwise the report is journaled
        here.
        """
        token = (report.id, report.attempt)
        if journal is None:
            try:
                self._journal.begun(token)
                self._journal.report(report)
                journal = self._journal.name
            except OSError as error:
                # The disk is full: the report is sent anyway, and only a kill would lose it.
                log.error(
                    "report.not_kept",
                    job=report.id,
                    attempt=report.attempt,
                    reason=sentence_of(error),
                    note="the report is sent from memory; free space on the pilot's disk",
                )
        if journal is not None:
            self._ledger.expect(journal, token)
        self._unanswered[token] = _Unanswered(report, journal)
        self._signal()

    def next_batch(self) -> list[AttemptReport]:
        """Return the next reports to send."""
        return [kept.report for kept in islice(self._unanswered.values(), _MAX_PER_CALL)]

    async def answered(self, batch: list[AttemptReport], answers: ReportAnswers) -> None:
        """Process the answers to a batch and drop the answered reports.

        Files of stale attempts and checkpoints of ended jobs are removed first.
        """
        by_token = {(answer.id, answer.attempt): answer.answer for answer in answers.answers}
        done: list[Token] = []
        for report in batch:
            token = (report.id, report.attempt)
            answer = by_token.get(token)
            if answer is None:
                continue
            if answer is ReportAnswer.STALE:
                log.warning(
                    "report.stale", job=report.id, attempt=report.attempt, outcome=report.outcome
                )
                await self.leftovers.remove(files_of([report]))
            done.append(token)
        await self.leftovers.remove_checkpoints(batch, answers)
        self._done(done)

    def refused(self, report: AttemptReport, reason: str) -> None:
        """Log and drop a report that the WMS cannot process.

        The report would block the others.
        """
        log.error("report.refused", job=report.id, attempt=report.attempt, reason=reason)
        self._done([(report.id, report.attempt)])

    def _done(self, tokens: list[Token]) -> None:
        by_journal: defaultdict[str, list[Token]] = defaultdict(list)
        for token in tokens:
            kept = self._unanswered.pop(token, None)
            if kept is not None and kept.journal is not None:
                by_journal[kept.journal].append(token)
        for journal, answered in by_journal.items():
            try:
                self._ledger.answered(journal, answered)
            except OSError as error:
                # The disk is full: after a kill these reports are sent again and answered
                # "already".
                log.error(
                    "report.answer_not_kept",
                    reports=len(answered),
                    reason=sentence_of(error),
                    note="a pilot that starts again sends them again; free space on its disk",
                )
        self._signal()

    def _signal(self) -> None:
        if self._unanswered:
            self.waiting.set()
            self.empty.clear()
        else:
            self.waiting.clear()
            self.empty.set()
