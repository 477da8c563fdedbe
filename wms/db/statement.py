"""SQL statements with the state names of the contracts, so that no state is spelt twice."""

from sluice.contracts.common.states import AttemptOutcome, JobState, PilotState, TaskState


def statement(text: str) -> str:
    """Fill in ``'{job.READY}'``, ``'{task.ACTIVE}'``, ``'{pilot.LOST}'`` and ``'{outcome.LOST}'``.

    They are literals, not parameters, so that the planner can use partial indexes.
    """
    return text.format(job=JobState, task=TaskState, pilot=PilotState, outcome=AttemptOutcome)
