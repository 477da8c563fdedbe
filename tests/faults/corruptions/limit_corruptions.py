"""Corruptions of limits and quotas over all nodes in a good final state."""

from sluice.contracts.common.states import AttemptOutcome
from tests.faults.checker.snapshot import Row, Snapshot
from tests.faults.corruptions.attempt_corruptions import (
    add_unprepared_duplicate,
    add_unstarted_duplicate,
)


def exceed_limit(state: Snapshot) -> None:
    attempts = _list_limited_attempts(state)
    first_lease = min(row["leased_at"] for row in attempts)
    for row in attempts:
        row["leased_at"] = first_lease


def delete_limited_attempts(state: Snapshot) -> None:
    own = {row["job_id"] for row in _list_limited_attempts(state)}
    rows = state.rows("wms", "attempts")
    rows[:] = [row for row in rows if row["job_id"] not in own]


def spend_quota_twice(state: Snapshot) -> None:
    state.row("wms", "limits", name="entries")["spent"] += 1


def return_quota_twice(state: Snapshot) -> None:
    state.row("wms", "limits", name="entries")["spent"] -= 1


def delete_limit(state: Snapshot) -> None:
    state.rows("wms", "limits").remove(state.row("wms", "limits", name="register"))


def add_unstarted_limited_attempt(state: Snapshot) -> None:
    """Add an attempt of a limited step that its pilot stopped early, which is correct."""
    add_unstarted_duplicate(state, _find_limited_winner(state))


def add_unprepared_limited_attempt(state: Snapshot) -> None:
    """Add an attempt of a limited step for which the node had no space, which is correct."""
    add_unprepared_duplicate(state, _find_limited_winner(state))


def add_unprepared_limited_attempt_that_spent(state: Snapshot) -> None:
    """Add such an attempt that failed when the pilot tried to start its tool."""
    add_unprepared_limited_attempt(state)
    state.row("wms", "limits", name="entries")["spent"] += 1


def _find_limited_winner(state: Snapshot) -> Row:
    return next(
        row for row in _list_limited_attempts(state) if row["outcome"] == AttemptOutcome.FINISHED
    )


def _list_limited_attempts(state: Snapshot) -> list[Row]:
    """Return attempts of jobs of the step that needs limited resources."""
    tasks = {row["uid"] for row in state.rows("wms", "tasks") if row["step"] == "enter"}
    jobs = {row["id"] for row in state.rows("wms", "jobs") if row["task_uid"] in tasks}
    return [row for row in state.rows("wms", "attempts") if row["job_id"] in jobs]
