"""Statements on steps across all chains: their priorities and their waiting jobs."""

from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.jobs.steps import (
    RankStep,
    StepList,
    StepLoad,
    StepPriority,
    find_priority,
)
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import FINAL_TASK_STATES, statement

#: SQL: tasks ``t`` with the priority of their step: of its template, else of all templates.
TASKS_WITH_PRIORITY = """tasks AS t
    LEFT JOIN step_priorities AS own ON own.step = t.step AND own.template = t.template
    LEFT JOIN step_priorities AS every ON every.step = t.step AND every.template = ''"""

PRIORITY = "coalesce(own.priority, every.priority, 0)"

_SET_PRIORITY = """
INSERT INTO step_priorities (step, template, priority, reason, set_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (step, template) DO UPDATE SET
    priority = excluded.priority, reason = excluded.reason, set_by = excluded.set_by,
    set_at = CASE WHEN step_priorities.priority = excluded.priority
        THEN step_priorities.set_at ELSE now() END
"""

#: Priority 0 for all templates equals no setting.
_CLEAR_PRIORITY = "DELETE FROM step_priorities WHERE step = $1 AND template = $2"

_SELECT_PRIORITIES = "SELECT step, template, priority, reason, set_by, set_at FROM step_priorities"

_SELECT_PRIORITY_OF_TASK = """
SELECT s.* FROM tasks AS t JOIN step_priorities AS s
    ON s.step = t.step AND s.template IN (t.template, '')
WHERE t.uid = $1 ORDER BY s.template DESC LIMIT 1
"""


SELECT_LOADS = statement(f"""
-- Live tasks (index tasks_live), and tasks created within a day (tasks_created). The first waiting
-- job is one end of the index jobs_ready, and jobs in flight come from jobs_in_flight.
WITH live AS (
    SELECT uid, step, template, ready, leased + running AS in_flight FROM tasks
    WHERE state NOT IN ({FINAL_TASK_STATES}) AND ($1::text[] IS NULL OR owner_group = ANY($1))
), waiting AS (
    SELECT l.step, l.template, count(*) AS tasks, sum(l.ready) AS waiting,
        sum(l.in_flight) AS in_flight, min(first.ready_at) AS oldest
    FROM live AS l LEFT JOIN LATERAL (
        SELECT ready_at FROM jobs WHERE task_uid = l.uid AND state = '{{job.READY}}' AND l.ready > 0
        ORDER BY not_before, seq LIMIT 1
    ) AS first ON true
    GROUP BY l.step, l.template
), in_flight AS (
    SELECT l.step, l.template, count(DISTINCT j.pilot) AS pilots
    FROM jobs AS j JOIN live AS l ON l.uid = j.task_uid
    WHERE j.state IN ('{{job.LEASED}}', '{{job.RUNNING}}') GROUP BY l.step, l.template
), done AS (
    SELECT step, template, sum(timed) AS timed, sum(worked) AS worked FROM tasks
    WHERE created_at > now() - interval '1 day'
        AND ($1::text[] IS NULL OR owner_group = ANY($1))
    GROUP BY step, template
)
SELECT step, template, coalesce(w.tasks, 0) AS tasks, coalesce(w.waiting, 0)::bigint AS waiting,
    coalesce(w.in_flight, 0)::bigint AS in_flight, coalesce(f.pilots, 0) AS pilots, w.oldest,
    coalesce(d.timed, 0)::bigint AS timed, d.worked / nullif(d.timed, 0) AS mean
FROM waiting AS w FULL JOIN done AS d USING (step, template)
LEFT JOIN in_flight AS f USING (step, template)
ORDER BY step, template
""")


async def set_priority(connection: Connection, new: RankStep) -> None:
    """Set the priority of a step, or delete it if it equals no setting."""
    template = new.template or ""
    if new.priority == 0 and not template:
        await connection.execute(_CLEAR_PRIORITY, new.step, template)
        return
    await connection.execute(
        _SET_PRIORITY, new.step, template, new.priority, new.reason, new.by or ""
    )


async def find_task_priority(connection: Connection, task: UUID) -> StepPriority | None:
    """Return the priority that applies to the task's step, or None if nobody has set one."""
    row = await connection.fetchrow(_SELECT_PRIORITY_OF_TASK, task)
    return None if row is None else _build_priority(row)


async def list_step_loads(connection: Connection, visibility: Visibility = ALL) -> StepList:
    """Return the steps with tasks that live or were created within a day.

    A principal with limited visibility gets only priorities that apply to all templates or to
    templates of these steps.
    """
    rows = await connection.fetch(_SELECT_PRIORITIES)
    priorities = {(row["step"], row["template"]): _build_priority(row) for row in rows}
    loads = [
        StepLoad(**row, priority=find_priority(row["step"], row["template"], priorities.values()))
        for row in await connection.fetch(SELECT_LOADS, visibility.names())
    ]
    visible_templates = {load.template for load in loads}
    visible_priorities = [
        priorities[step, template]
        for step, template in sorted(priorities)
        if visibility.groups is None or not template or template in visible_templates
    ]
    return StepList(steps=loads, priorities=visible_priorities)


def _build_priority(row: Any) -> StepPriority:
    return StepPriority(
        step=row["step"],
        priority=row["priority"],
        template=row["template"] or None,
        reason=row["reason"],
        by=row["set_by"] or None,
        since=row["set_at"],
    )
