"""Gauges of the WMS for monitoring, read from live tasks and from pilots, never from jobs."""

from datetime import timedelta

from sluice.contracts.common.states import JobState, PilotState, TaskState
from sluice.servicekit.gauges import Measurement, read_rows
from sluice.servicekit.statement import FINAL_TASK_STATES, statement

#: Pilots that ended before this time are not counted.
RECENT = timedelta(days=1)

_LIVE = ", ".join(f"('{state}')" for state in TaskState if not state.final)
#: Every job state is the name of a column of ``tasks``.
_COUNTS = ", ".join(f"('{state}', t.{state})" for state in JobState)
_JOB_STATES = ", ".join(f"('{state}')" for state in JobState)
_PILOT_STATES = ", ".join(f"('{state}')" for state in PilotState)
_PRESENT = statement("'{pilot.ACTIVE}', '{pilot.DRAINING}'")

_LIVE_TASKS = f"""
-- Every state is listed, if necessary with 0.
SELECT s.state, count(t.uid) FROM (VALUES {_LIVE}) AS s (state)
LEFT JOIN tasks AS t ON t.state = s.state AND t.state NOT IN ({FINAL_TASK_STATES}) GROUP BY s.state
"""

_LIVE_JOBS = f"""
-- Sums of the counters of tasks. Every state is listed, if necessary with 0.
SELECT c.state, coalesce(sum(n.number), 0) FROM (VALUES {_JOB_STATES}) AS c (state)
LEFT JOIN (
    SELECT v.state, v.number
    FROM tasks AS t CROSS JOIN LATERAL (VALUES {_COUNTS}) AS v (state, number)
    WHERE t.state NOT IN ({FINAL_TASK_STATES})
) AS n USING (state)
GROUP BY c.state
"""

_UNSERVED = f"""
-- How long the longest-waiting task has had no job leased, among tasks with ready jobs and none in
-- flight.
SELECT coalesce(extract(epoch FROM now() - min(greatest(served_at, created_at))), 0) FROM tasks
WHERE state NOT IN ({FINAL_TASK_STATES}) AND ready > 0 AND leased + running = 0
"""

_PILOTS = f"""
-- Every state is listed, if necessary with 0.
SELECT s.state, count(p.uid) FROM (VALUES {_PILOT_STATES}) AS s (state)
LEFT JOIN pilots AS p ON p.state = s.state
    AND (p.state IN ({_PRESENT}) OR p.away_since > now() - interval '{RECENT.days} day')
GROUP BY s.state
"""

_SLOTS = statement("SELECT coalesce(sum(slots), 0) FROM pilots WHERE state = '{pilot.ACTIVE}'")

MEASUREMENTS = (
    Measurement(
        "sluice_tasks", "Tasks that have not ended, by state.", read_rows(_LIVE_TASKS), ("state",)
    ),
    Measurement(
        "sluice_jobs",
        "Jobs of tasks that have not ended, by state.",
        read_rows(_LIVE_JOBS),
        ("state",),
    ),
    Measurement(
        "sluice_task_unserved_seconds",
        "Longest time for which a task with ready jobs has had no job leased, or 0.",
        read_rows(_UNSERVED),
    ),
    Measurement(
        "sluice_pilots",
        "Pilots by state. Ended pilots are counted for a day.",
        read_rows(_PILOTS),
        ("state",),
    ),
    Measurement(
        "sluice_pilot_slots",
        "Slots of all active pilots: the maximum number of jobs at the same time.",
        read_rows(_SLOTS),
    ),
)
