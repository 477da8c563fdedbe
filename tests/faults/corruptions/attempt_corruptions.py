"""Corruptions of attempts in a good final state."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from tests.faults.checker.snapshot import Row, Snapshot


def add_second_winner(state: Snapshot) -> None:
    attempts = state.rows("wms", "attempts")
    winner = next(row for row in attempts if row["outcome"] == AttemptOutcome.FINISHED)
    attempts.append(winner | {"attempt": winner["attempt"] + 1})


def add_attempt_without_job(state: Snapshot) -> None:
    attempts = state.rows("wms", "attempts")
    attempts.append(attempts[0] | {"job_id": -1})


def _add_concurrent_attempts(state: Snapshot, pilots: Sequence[str]) -> None:
    """Add earlier attempts, which were leased and ended at the same time as the winner."""
    attempts = state.rows("wms", "attempts")
    winner = next(
        row for row in attempts if row["outcome"] == AttemptOutcome.FINISHED and row["attempt"] == 1
    )
    state.row("wms", "jobs", id=winner["job_id"])["attempt"] = len(pilots) + 1
    attempts.append(winner | {"attempt": len(pilots) + 1})
    attempts += [
        winner | {"attempt": number, "outcome": AttemptOutcome.LOST, "pilot": pilot}
        for number, pilot in enumerate(pilots[1:], start=2)
    ]
    winner |= {"outcome": AttemptOutcome.LOST, "pilot": pilots[0]}


def lease_twice_to_one_pilot(state: Snapshot) -> None:
    winner = next(
        row
        for row in state.rows("wms", "attempts")
        if row["outcome"] == AttemptOutcome.FINISHED and row["attempt"] == 1
    )
    _add_concurrent_attempts(state, [winner["pilot"]])


def lease_three_times_at_once(state: Snapshot) -> None:
    _add_concurrent_attempts(state, ["a", "b"])


def add_attempt_after_winner(state: Snapshot) -> None:
    """Add an attempt that began after the end of the winner."""
    _add_failed_attempt(state, seconds=1)


def add_failed_duplicate(state: Snapshot) -> None:
    """Add a duplicate attempt that failed, which is correct."""
    _add_failed_attempt(state, seconds=-0.001)


def add_unstarted_duplicate(state: Snapshot, winner: Row) -> None:
    """Add a duplicate attempt that spends no quota, which is correct: its tool never started."""
    _add_attempt(state, winner, seconds=-0.001, outcome=AttemptOutcome.CANCELED, started_at=None)


def add_unprepared_duplicate(state: Snapshot, winner: Row) -> None:
    """Add a duplicate attempt whose node had no space to start the tool, which is correct."""
    _add_attempt(
        state,
        winner,
        seconds=-0.001,
        outcome=AttemptOutcome.FAILED,
        error_class=ErrorClass.NO_SPACE,
        exit_code=None,
    )


def _add_failed_attempt(state: Snapshot, *, seconds: float) -> None:
    """Add a failed attempt that begins ``seconds`` after the end of the winner."""
    attempts = state.rows("wms", "attempts")
    winner = next(row for row in attempts if row["outcome"] == AttemptOutcome.FINISHED)
    _add_attempt(state, winner, seconds=seconds, outcome=AttemptOutcome.FAILED)


def _add_attempt(
    state: Snapshot, winner: Row, *, seconds: float, outcome: AttemptOutcome, **changes: Any
) -> None:
    """Add an attempt that another pilot ended at once, ``seconds`` after the end of the winner."""
    began = winner["ended_at"] + timedelta(seconds=seconds)
    ended = {"outcome": outcome, "reported": outcome, "pilot": "another", "log_url": None}
    times = {"leased_at": began, "started_at": began, "ended_at": began}
    number = {"attempt": winner["attempt"] + 1}
    state.rows("wms", "attempts").append(winner | number | ended | times | changes)


def end_attempt_before_its_start(state: Snapshot) -> None:
    row = state.rows("wms", "attempts")[0]
    row["ended_at"] = row["leased_at"] - timedelta(seconds=1)


def report_missing_input(state: Snapshot) -> None:
    state.rows("wms", "attempts")[0]["message"] = "input file 'a' is no longer there: file:///a"


def add_attempts_without_space(state: Snapshot) -> None:
    attempts = state.rows("wms", "attempts")
    attempts += [
        attempts[0] | {"attempt": number, "error_class": ErrorClass.NO_SPACE}
        for number in range(2, 12)
    ]


def report_checksum_mismatch(state: Snapshot) -> None:
    state.rows("wms", "attempts")[0]["error_class"] = ErrorClass.CHECKSUM_MISMATCH
