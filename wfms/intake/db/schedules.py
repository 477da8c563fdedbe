"""SQL on schedules of templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.contracts.data.append_only import ScheduleState
from sluice.servicekit.database import Connection

_BEGIN_SCHEDULE = """
-- Replace another schedule of the template.
INSERT INTO schedules (template, spec, until) VALUES ($1, $2, $3)
ON CONFLICT (template) DO UPDATE SET spec = EXCLUDED.spec, until = EXCLUDED.until
WHERE schedules.spec <> EXCLUDED.spec
"""

_SELECT_UNTIL = "SELECT until FROM schedules WHERE template = $1 AND spec = $2"

_MOVE_SCHEDULE = """
-- Return no row if another instance has handled this time.
UPDATE schedules SET until = $4, last_at = $4, came_of_it = $5
WHERE template = $1 AND spec = $2 AND until = $3 RETURNING 1
"""

_FORGET_OTHERS = "DELETE FROM schedules WHERE template <> ALL($1::text[])"

_LIST_SCHEDULES = """
SELECT template, last_at, came_of_it AS outcome FROM schedules
WHERE $1::text IS NULL OR template = $1
ORDER BY template
"""


@dataclass(frozen=True, slots=True)
class Spec:
    """A template's schedule; ``text`` includes its time zone."""

    template: str
    text: str


async def find_last_handled(connection: Connection, spec: Spec) -> datetime | None:
    """Return the last handled time; None if the schedule is new or has changed."""
    until: datetime | None = await connection.fetchval(_SELECT_UNTIL, spec.template, spec.text)
    return until


async def begin_schedule(connection: Connection, spec: Spec, *, now: datetime) -> None:
    """Store a new or changed schedule, which begins now."""
    await connection.execute(_BEGIN_SCHEDULE, spec.template, spec.text, now)


async def move_schedule(
    connection: Connection, spec: Spec, *, old: datetime, new: datetime, outcome: str
) -> bool:
    """Record that the time ``new`` was handled; return False if another instance was faster."""
    moved = await connection.fetchval(_MOVE_SCHEDULE, spec.template, spec.text, old, new, outcome)
    return moved is not None


async def forget_others(connection: Connection, templates: Sequence[str]) -> None:
    """Delete all schedules except those of the templates."""
    await connection.execute(_FORGET_OTHERS, templates)


async def list_schedules(connection: Connection, template: str | None) -> list[ScheduleState]:
    """Return the schedules of all templates, or of one."""
    return [ScheduleState(**row) for row in await connection.fetch(_LIST_SCHEDULES, template)]
