"""Statements on kinds of warm workers: how many are loaded, and which steps use them."""

from dataclasses import dataclass

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.in_flight import ATTEMPTS_IN_FLIGHT
from wms.db.pilots.pilot_times import WorkKind

_SELECT_LOADED = statement(f"""
-- For each kind, how often pilots have it loaded (by their last heartbeats, or for jobs leased
-- since), and how long loading took. Uses the index jobs_in_flight.
WITH told AS (
    SELECT uid, tool->>'kind' AS kind, count(*) AS times,
        avg(nullif((tool->>'loading')::float8, 0)) AS loading
    FROM pilots CROSS JOIN LATERAL jsonb_array_elements(loaded) AS tool
    WHERE state = '{{pilot.ACTIVE}}' AND loaded <> '[]' GROUP BY 1, 2
), given AS (
    SELECT p.uid, t.needs->'warm'->>'kind' AS kind, least(count(*), p.slots) AS times
    FROM ({ATTEMPTS_IN_FLIGHT}) AS f JOIN tasks AS t ON t.uid = f.task_uid
    JOIN pilots AS p ON p.uid = f.pilot
    WHERE t.needs ? 'warm' AND p.state = '{{pilot.ACTIVE}}' GROUP BY 1, 2, p.slots
)
SELECT kind, sum(greatest(told.times, given.times))::bigint AS serving,
    coalesce(avg(told.loading), 0) AS loading
FROM told FULL JOIN given USING (uid, kind) GROUP BY 1
""")

_SELECT_STEPS = statement("""
-- Steps of running chains whose tasks have been sent.
SELECT DISTINCT template, step, needs->'warm'->>'kind' AS kind,
    coalesce((spec->>'depth')::int, 0) AS depth
FROM tasks WHERE state IN ('{task.WAITING}', '{task.SPLITTING}', '{task.ACTIVE}')
""")


@dataclass(frozen=True, slots=True)
class KindUsage:
    """How often a kind is loaded.

    Attributes:
        serving: Number of times that pilots have it loaded or will load it.
        loading: Mean seconds to load it; 0 if unknown.
    """

    serving: int
    loading: float


@dataclass(frozen=True, slots=True)
class ActiveStep:
    """A step of a live chain.

    Attributes:
        kind: Kind of its warm worker; None if its tool does not stay loaded.
        depth: Number of steps before it.
    """

    work: WorkKind
    kind: str | None
    depth: int


async def list_loaded_kinds(connection: Connection) -> dict[str, KindUsage]:
    """Return how often each kind is loaded, by kind."""
    rows = await connection.fetch(_SELECT_LOADED)
    return {row["kind"]: KindUsage(row["serving"], row["loading"]) for row in rows}


async def list_live_steps(connection: Connection) -> list[ActiveStep]:
    """Return the steps of the tasks that are waiting, splitting or active."""
    return [
        ActiveStep(WorkKind(row["template"], row["step"]), row["kind"], row["depth"])
        for row in await connection.fetch(_SELECT_STEPS)
    ]
