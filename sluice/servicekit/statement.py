"""SQL statements with the state names of the contracts, so that no state is spelt twice."""

from sluice.contracts.common.states import (
    AskItemState,
    AttemptOutcome,
    BrowserState,
    JobState,
    PilotState,
    TaskState,
)


def statement(text: str) -> str:
    """Return a statement with its states filled in.

    The states become literals, not parameters, so that the planner can use partial indexes.

    Args:
        text: States are written as ``'{job.READY}'``, ``'{task.ACTIVE}'``, ``'{pilot.LOST}'``,
            ``'{outcome.LOST}'``, ``'{item.OPEN}'`` and ``'{browser.EXCLUDED}'``. Other braces are
            doubled.
    """
    return text.format(
        job=JobState,
        task=TaskState,
        pilot=PilotState,
        outcome=AttemptOutcome,
        item=AskItemState,
        browser=BrowserState,
    )
