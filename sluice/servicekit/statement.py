"""SQL statements with the state names of the contracts, so that no state is spelt twice."""

from collections.abc import Iterable

from sluice.contracts.common.states import (
    AskItemState,
    AttemptOutcome,
    BrowserState,
    ChainState,
    DatasetState,
    JobState,
    PilotState,
    ReplicaState,
    StepState,
    TaskState,
)


def statement(text: str) -> str:
    """Return a statement with its states filled in.

    The states become literals, not parameters, so that the planner can use partial indexes.

    Args:
        text: States are written as ``'{job.READY}'``, ``'{task.ACTIVE}'``, ``'{pilot.LOST}'``,
            ``'{outcome.LOST}'``, ``'{item.OPEN}'``, ``'{browser.EXCLUDED}'``, ``'{dataset.OPEN}'``,
            ``'{replica.DELETED}'``, ``'{chain.FAILED}'`` and ``'{step.PENDING}'``. Other braces are
            doubled.
    """
    return text.format(
        job=JobState,
        task=TaskState,
        pilot=PilotState,
        outcome=AttemptOutcome,
        item=AskItemState,
        browser=BrowserState,
        dataset=DatasetState,
        replica=ReplicaState,
        chain=ChainState,
        step=StepState,
    )


def quote_states(states: Iterable[str]) -> str:
    """Return the literals of computed states, separated by commas, for ``IN (…)``."""
    return ", ".join(f"'{state}'" for state in states)


#: The literals of the states of ended tasks.
FINAL_TASK_STATES = quote_states(state for state in TaskState if state.final)
