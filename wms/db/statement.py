"""SQL with the state names of the contracts, so that no state is spelt out a second time."""

from sluice.contracts.states import AttemptOutcome, JobState, PilotState, TaskState


def statement(text: str) -> str:
    """Fills in ``'{job.READY}'``, ``'{task.ACTIVE}'``, ``'{pilot.LOST}'``, ``'{outcome.LOST}'``.

    As literals, not as parameters: only so can the planner tell that a partial index serves.
    """
    return text.format(job=JobState, task=TaskState, pilot=PilotState, outcome=AttemptOutcome)
