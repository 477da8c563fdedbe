"""Legal state transitions of tasks, jobs and pilots.

The diagrams in the documentation and the tests of all pairs are generated from these tables.
"""

from sluice.contracts.common.life_cycles import Moves
from sluice.contracts.common.states import JobState, PilotState, TaskState

TASK_MOVES: Moves[TaskState] = {
    TaskState.WAITING: frozenset({TaskState.SPLITTING, TaskState.FAILED, TaskState.CANCELED}),
    TaskState.SPLITTING: frozenset({TaskState.ACTIVE, TaskState.FAILED, TaskState.CANCELED}),
    TaskState.ACTIVE: frozenset({TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELED}),
    TaskState.FINISHED: frozenset(),
    TaskState.FAILED: frozenset(),
    TaskState.CANCELED: frozenset(),
}

#: A short job may be reported before a heartbeat says that it started, so LEASED leads wherever
#: RUNNING leads. FAILED → READY: a person asks for a retry while the task lives. Jobs of human
#: tasks go from ASKED to their end, because no pilot has them. Only a release without human tasks
#: leased them to pilots, so FAILED and QUARANTINED lead to ASKED.
JOB_MOVES: Moves[JobState] = {
    JobState.READY: frozenset({JobState.LEASED, JobState.CANCELED}),
    JobState.LEASED: frozenset(
        {
            JobState.RUNNING,
            JobState.READY,
            JobState.QUARANTINED,
            JobState.FINISHED,
            JobState.FAILED,
            JobState.CANCELED,
        }
    ),
    JobState.RUNNING: frozenset(
        {
            JobState.READY,
            JobState.QUARANTINED,
            JobState.FINISHED,
            JobState.FAILED,
            JobState.CANCELED,
        }
    ),
    JobState.QUARANTINED: frozenset({JobState.READY, JobState.ASKED, JobState.CANCELED}),
    JobState.ASKED: frozenset({JobState.FINISHED, JobState.FAILED, JobState.CANCELED}),
    JobState.FAILED: frozenset({JobState.READY, JobState.ASKED}),
    JobState.FINISHED: frozenset(),
    JobState.CANCELED: frozenset(),
}

#: LOST leads back: a pilot that the network cut off continues when it is seen again. GONE → ACTIVE:
#: the pilot registered again.
PILOT_MOVES: Moves[PilotState] = {
    PilotState.ACTIVE: frozenset({PilotState.DRAINING, PilotState.GONE, PilotState.LOST}),
    PilotState.DRAINING: frozenset({PilotState.ACTIVE, PilotState.GONE, PilotState.LOST}),
    PilotState.LOST: frozenset({PilotState.ACTIVE, PilotState.DRAINING, PilotState.GONE}),
    PilotState.GONE: frozenset({PilotState.ACTIVE}),
}
