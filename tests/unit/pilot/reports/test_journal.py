"""Tests of what journals recover, wherever they are cut off."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

from pilot.reports.journal import Journal, UnansweredReports, read_journals
from pilot.reports.outbox import Outbox
from sluice.contracts.common.states import AttemptOutcome, ReportAnswer
from sluice.contracts.pilots.reports import AnsweredReport, AttemptReport, ReportAnswers
from tests.unit.pilot.builders import make_file_remover


def make_report(job_id: int) -> AttemptReport:
    return AttemptReport(
        id=job_id,
        attempt=1,
        outcome=AttemptOutcome.FINISHED,
        ended_at=datetime(2030, 1, 1, tzinfo=UTC),
    )


def test_journal_distinguishes_all_stages_of_an_attempt(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "slot-7")
    for job_id in range(4):
        journal.record_start((job_id, 1))
    journal.record_urls((1, 1), ["file:///a b", "file:///c"])
    journal.record_urls((2, 1), ["file:///d"])
    journal.record_report(make_report(2))
    journal.record_removal((3, 1))
    traces = read_journals(tmp_path)
    assert set(traces) == {(0, 1), (1, 1), (2, 1)}
    assert (traces[(0, 1)].report, traces[(0, 1)].urls) == (None, [])
    assert (traces[(1, 1)].report, traces[(1, 1)].urls) == (None, ["file:///a b", "file:///c"])
    assert traces[(2, 1)].report == make_report(2)


def test_incomplete_last_line_is_ignored(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "slot-7")
    journal.record_start((1, 1))
    journal.record_urls((1, 1), ["file:///a"])
    journal.record_report(make_report(1))
    path = tmp_path / journal.name
    path.write_bytes(path.read_bytes()[:-5])
    trace = read_journals(tmp_path)[(1, 1)]
    assert (trace.report, trace.urls) == (None, ["file:///a"])


def test_answered_reports_are_not_read_again(tmp_path: Path) -> None:
    journal, ledger = Journal(tmp_path, "slot-7"), UnansweredReports(tmp_path)
    for job_id in (1, 2):
        journal.record_start((job_id, 1))
        journal.record_report(make_report(job_id))
        ledger.expect(journal.name, (job_id, 1))
    ledger.record_answers(journal.name, [(1, 1)])
    assert set(read_journals(tmp_path)) == {(2, 1)}
    ledger.record_answers(journal.name, [(2, 1)])
    assert read_journals(tmp_path) == {}


def test_closed_journal_is_deleted_after_its_last_report_is_answered(tmp_path: Path) -> None:
    ledger = UnansweredReports(tmp_path)
    for name in ("slot-7.0.journal", "slot-7.1.journal"):
        (tmp_path / name).touch()
    ledger.expect("slot-7.0.journal", (1, 1))
    ledger.expect("slot-7.1.journal", (2, 1))
    ledger.record_answers("slot-7.1.journal", [(2, 1)])
    assert (tmp_path / "slot-7.0.journal").exists()
    ledger.record_answers("slot-7.0.journal", [(1, 1)])
    assert not (tmp_path / "slot-7.0.journal").exists()
    assert (tmp_path / "slot-7.1.journal").exists()


def test_large_journal_is_rotated_between_attempts(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "slot-7")
    journal.record_start((1, 1))
    journal.record_urls((1, 1), ["file:///" + "x" * 5_000_000])
    journal.record_report(make_report(1))
    assert journal.name == "slot-7.0.journal"
    journal.record_start((2, 1))
    assert journal.name == "slot-7.1.journal"
    assert set(read_journals(tmp_path)) == {(1, 1), (2, 1)}


async def test_answer_that_cannot_be_written_still_counts(tmp_path: Path) -> None:
    """A full disk is a usual cause; here the folder is missing. After a kill the report would be
    sent once more, which is harmless."""
    outbox = Outbox(tmp_path / "journals", make_file_remover())
    (tmp_path / "journals").mkdir()
    outbox.add(make_report(1))
    shutil.rmtree(tmp_path / "journals")
    [sent] = outbox.next_batch()
    answers = ReportAnswers(
        answers=[AnsweredReport(id=sent.id, attempt=sent.attempt, answer=ReportAnswer.ACCEPTED)]
    )
    await outbox.process_answers([sent], answers)
    assert outbox.empty.is_set()


def test_damaged_lines_do_not_hide_other_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "slot-7")
    journal.record_start((1, 1))
    path = tmp_path / journal.name
    path.write_text(
        path.read_text() + 'begun [2\nreport {"id": 3\nplacing [[1, 1], ["file:///a"]]\n'
    )
    path.with_name(f"{journal.name}.answered").write_text("[9\n")
    assert {token: trace.urls for token, trace in read_journals(tmp_path).items()} == {
        (1, 1): ["file:///a"]
    }


def test_journal_is_deleted_together_with_its_list_of_answers(tmp_path: Path) -> None:
    ledger, name = UnansweredReports(tmp_path), "slot-7.0.journal"
    (tmp_path / name).touch()
    for job_id in (1, 2):
        ledger.expect(name, (job_id, 1))
    ledger.record_answers(name, [(1, 1)])
    ledger.expect("slot-7.1.journal", (3, 1))
    ledger.record_answers(name, [(2, 1)])
    assert list(tmp_path.iterdir()) == []
