"""Counts of the outstanding work, read in one statement so that they agree with each other."""

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.chains.attention import WorkCounts
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.jobs.in_flight import IN_FLIGHT

COUNTS = statement(f"""
-- Uses the index tasks_live.
WITH in_flight AS ({IN_FLIGHT}), present AS (
    SELECT coalesce(sum(p.slots), 0) AS slots, coalesce(sum(f.busy), 0) AS busy
    FROM pilots AS p LEFT JOIN in_flight AS f ON f.pilot = p.uid
    WHERE p.state IN ('{{pilot.ACTIVE}}', '{{pilot.DRAINING}}')
), live AS (
    SELECT coalesce(sum(ready + leased + running), 0) AS undone,
        coalesce(sum(quarantined) FILTER (WHERE is_seen), 0) AS quarantined,
        count(*) FILTER (WHERE (quarantined > 0 OR failed > 0) AND is_seen) AS troubled
    FROM (SELECT *, $1::text[] IS NULL OR owner_group = ANY($1) AS is_seen FROM tasks) AS tasks
    WHERE state NOT IN ('{{task.FINISHED}}', '{{task.FAILED}}', '{{task.CANCELED}}')
)
SELECT busy AS running, undone - busy AS waiting, quarantined, slots, troubled FROM present, live
""")


async def get_work_counts(
    connection: Connection, *, troubled: bool, visibility: Visibility = ALL
) -> WorkCounts:
    """Return the counts of jobs and slots.

    ``troubled`` includes the number of tasks with quarantined or failed jobs. The visibility limits
    the counts of quarantined jobs and of such tasks only; the other counts cover all groups.
    """
    row = await connection.fetchrow(COUNTS, visibility.names())
    assert row is not None  # noqa: S101 - sums without groups give one row
    return WorkCounts(
        **{key: int(value) for key, value in row.items() if troubled or key != "troubled"}
    )
