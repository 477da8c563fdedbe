"""Limits over all nodes were never exceeded, and no process of a tool is left."""

from collections.abc import Iterator
from datetime import datetime

from tests.faults.checker.expectation import Limit
from tests.faults.checker.snapshot import Row
from tests.faults.checker.view import View

#: Attempts that a pilot ended with one of these outcomes before the tool started spend nothing.
_OUTCOMES_WITHOUT_SPENDING = {"canceled", "returned"}
_NO_SPACE = "no_space"


def check_limits_respected(view: View) -> Iterator[str]:
    """Require the limit at every time; an attempt uses its resources from its lease to its end."""
    for limit in _list_limits(view):
        if limit.period is None:
            changes = list[tuple[datetime, int]]()
            for row in _list_attempts(view, limit):
                changes += [(row["leased_at"], 1), (row["ended_at"], -1)]
            used = most = 0
            for _, change in sorted(changes):  # Ends sort before leases of the same time.
                used += change
                most = max(most, used)
            if most > limit.amount:
                yield f"{limit.name}: {most} in use at a time, of {limit.amount:g}"
            if not changes:
                yield f"{limit.name}: nothing has needed it"


def check_quotas_spent(view: View) -> Iterator[str]:
    """Require that each attempt spent one of a quota once, as far as the period still lasts.

    Attempts that their pilot stopped before the tool started spend nothing.
    """
    rows = {row["name"]: row for row in view.state.rows("wms", "limits")}
    for limit in _list_limits(view):
        row = rows.get(limit.name)
        if row is None or (row["amount"], row["period"]) != (limit.amount, limit.period):
            yield f"{limit.name}: the limit is {row}, not {limit}"
        elif limit.period is not None:
            attempts = [
                one
                for one in _list_attempts(view, limit)
                if row["begun"] <= one["leased_at"] and _may_have_spent(one)
            ]
            unclear = sum(_had_no_space_to_start(one) for one in attempts)
            if not len(attempts) - unclear <= row["spent"] <= len(attempts):
                yield (
                    f"{limit.name}: {row['spent']:g} are spent, by {len(attempts)} attempts,"
                    f" of which {unclear} may have spent nothing"
                )


def _may_have_spent(attempt: Row) -> bool:
    return (
        attempt["started_at"] is not None or attempt["reported"] not in _OUTCOMES_WITHOUT_SPENDING
    )


def _had_no_space_to_start(attempt: Row) -> bool:
    """Return whether the node had no space before the tool ran.

    The attempt spends nothing while its inputs are staged in, and the whole reservation as soon as
    the pilot tries to start the tool. Its record does not tell which of the two it was.
    """
    return attempt["error_class"] == _NO_SPACE and attempt["exit_code"] is None


def check_no_process_left(view: View) -> Iterator[str]:
    for pid, command in view.state.processes.items():
        yield f"process {pid} of a tool is still there: {command}"


def _list_limits(view: View) -> set[Limit]:
    return {limit for run in view.runs for limit in run.expected.pipeline.limits}


def _list_attempts(view: View, limit: Limit) -> Iterator[Row]:
    for _, step in view.steps():
        if limit.name in step.step.needs:
            for attempts in step.attempts.values():
                yield from attempts
