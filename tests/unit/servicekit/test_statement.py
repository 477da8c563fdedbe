"""States in SQL statements."""

from sluice.contracts.common.states import TaskState
from sluice.servicekit.statement import FINAL_TASK_STATES, quote_states, statement


def test_states_become_literals() -> None:
    filled = statement(
        "'{dataset.OPEN}' '{replica.DELETED}' '{chain.FAILED}' '{step.PENDING}' '{{}}'"
    )
    assert filled == "'open' 'deleted' 'failed' 'pending' '{}'"


def test_computed_states_are_quoted_and_separated_by_commas() -> None:
    assert quote_states([TaskState.WAITING, TaskState.ACTIVE]) == "'waiting', 'active'"


def test_final_states_of_tasks_are_literals() -> None:
    assert FINAL_TASK_STATES == "'finished', 'failed', 'canceled'"
