"""Outbox of reports: journaled first, sent in batches, kept until answered."""

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import structlog

from pilot.domain.model import Token
from pilot.reports.file_remover import FileRemover, list_files
from pilot.reports.journal import Journal, UnansweredReports
from sluice.contracts.common.states import ReportAnswer
from sluice.contracts.pilots.reports import AttemptReport, ReportAnswers
from sluice.text.os_errors import os_error_sentence

log = structlog.get_logger(__name__)

#: Maximum number of reports in one request.
_MAX_PER_CALL = 512


@dataclass(frozen=True, slots=True)
class _Unanswered:
    """A report that the WMS has not answered.

    Attributes:
        journal: The name of its journal, or None.
    """

    report: AttemptReport
    journal: str | None


class Outbox:
    """Reports for the WMS in the order of their arrival.

    ``waiting`` is set while there are reports, ``empty`` while there are none.
    """

    def __init__(self, journals: Path, file_remover: FileRemover) -> None:
        self.file_remover = file_remover
        self.waiting = asyncio.Event()
        self.empty = asyncio.Event()
        self.empty.set()
        self._journal = Journal(journals, "pilot")
        self._journals = UnansweredReports(journals)
        self._unanswered_reports: dict[Token, _Unanswered] = {}

    def add(self, report: AttemptReport, journal: str | None = None) -> None:
        """Add a report.

        ``journal`` names the journal that already has the report. Otherwise the report is journaled
        here.
        """
        token = (report.id, report.attempt)
        if journal is None:
            try:
                self._journal.record_start(token)
                self._journal.record_report(report)
                journal = self._journal.name
            except OSError as error:
                # The disk is full: the report is sent anyway, and only a kill would lose it.
                log.error(
                    "report.not_kept",
                    job=report.id,
                    attempt=report.attempt,
                    reason=os_error_sentence(error),
                    note="the report is sent from memory; free space on the pilot's disk",
                )
        if journal is not None:
            self._journals.expect(journal, token)
        self._unanswered_reports[token] = _Unanswered(report, journal)
        self._signal()

    def next_batch(self) -> list[AttemptReport]:
        """Return the next reports to send."""
        return [entry.report for entry in islice(self._unanswered_reports.values(), _MAX_PER_CALL)]

    async def process_answers(self, batch: list[AttemptReport], answers: ReportAnswers) -> None:
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
                await self.file_remover.remove(list_files([report]))
            done.append(token)
        await self.file_remover.remove_checkpoints(batch, answers)
        self._forget_reports(done)

    def drop_refused(self, report: AttemptReport, reason: str) -> None:
        """Log and drop a report that the WMS cannot process.

        The report would block the others.
        """
        log.error("report.refused", job=report.id, attempt=report.attempt, reason=reason)
        self._forget_reports([(report.id, report.attempt)])

    def _forget_reports(self, tokens: list[Token]) -> None:
        by_journal: defaultdict[str, list[Token]] = defaultdict(list)
        for token in tokens:
            entry = self._unanswered_reports.pop(token, None)
            if entry is not None and entry.journal is not None:
                by_journal[entry.journal].append(token)
        for journal, answered in by_journal.items():
            try:
                self._journals.record_answers(journal, answered)
            except OSError as error:
                # The disk is full: after a kill these reports are sent again and answered
                # "already".
                log.error(
                    "report.answer_not_kept",
                    reports=len(answered),
                    reason=os_error_sentence(error),
                    note="a pilot that starts again sends them again; free space on its disk",
                )
        self._signal()

    def _signal(self) -> None:
        if self._unanswered_reports:
            self.waiting.set()
            self.empty.clear()
        else:
            self.waiting.clear()
            self.empty.set()
