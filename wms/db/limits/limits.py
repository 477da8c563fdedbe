"""Statements on limits and quotas of resources that are counted over all nodes.

A live attempt uses what its job needs. The used amount follows from the counts of tasks, which
always equal the states of their jobs (``wms/db/tasks/tasks.py``). So nothing is released twice or
never.

A transaction that leases jobs that need a named resource, or sets a limit, first locks its name,
before any lock of a task. Only committed amounts are counted under this lock.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sluice.contracts.jobs.limits import LimitPeriod, ResourceLimit, SetLimit
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import FINAL_TASK_STATES
from wms.domain.scheduling.limits import Limit, UsingStep
from wms.domain.scheduling.matching import Demand

#: Namespace of PostgreSQL's advisory locks for names of resources.
_LOCKS = 0x510C

_LOCK_NAMES = f"""
-- Lock until the transaction ends. The order prevents deadlocks.
SELECT pg_advisory_xact_lock({_LOCKS}, key) FROM (
    SELECT DISTINCT hashtext(name) AS key FROM unnest($1::text[]) AS n (name) ORDER BY key
) AS keys
"""


#: SQL: live tasks ``t`` with each named resource ``n`` that their jobs need; by the index
#: tasks_with_named.
_NEEDING = f"""tasks AS t CROSS JOIN LATERAL jsonb_each_text(t.needs->'named') AS n (name, amount)
    WHERE t.needs ? 'named' AND t.state NOT IN ({FINAL_TASK_STATES})"""

#: SQL: the current period. It uses the clock because a transaction may have waited for the lock
#: into the next period.
_PERIOD = "date_trunc(l.period, clock_timestamp(), 'UTC')"

_SELECT_LIMITS = f"""
-- The limits of $1, or all, as they are now.
WITH needed AS (
    SELECT n.name, sum(n.amount::float * (t.leased + t.running)) AS in_use, sum(t.ready) AS waiting
    FROM {_NEEDING} AND ($1::text[] IS NULL OR n.name = ANY($1)) GROUP BY n.name
)
SELECT l.name, l.amount, l.period, coalesce(needed.waiting, 0)::bigint AS waiting,
    CASE WHEN l.period IS NULL THEN coalesce(needed.in_use, 0)
        WHEN l.begun < {_PERIOD} THEN 0 ELSE l.spent END AS used,
    {_PERIOD} + CASE l.period WHEN 'minute' THEN interval '1 minute'
        WHEN 'hour' THEN interval '1 hour' WHEN 'day' THEN interval '24 hours' END AS refills
FROM limits AS l LEFT JOIN needed USING (name)
WHERE $1::text[] IS NULL OR l.name = ANY($1) ORDER BY l.name
"""

_SELECT_HOLDERS = f"""
-- The steps whose jobs use most of $1.
SELECT t.step, sum(t.leased + t.running)::bigint AS jobs
FROM {_NEEDING} AND n.name = $1 AND t.leased + t.running > 0
GROUP BY t.step ORDER BY sum(n.amount::float * (t.leased + t.running)) DESC, t.step LIMIT $2
"""

_SPEND = f"""
-- Spend from a quota. Amounts of an earlier period no longer count.
UPDATE limits AS l SET
    spent = CASE WHEN l.begun < {_PERIOD} THEN 0 ELSE l.spent END + $2,
    begun = greatest(l.begun, {_PERIOD})
WHERE l.name = $1 AND l.period IS NOT NULL
"""

_GIVE_BACK = f"""
-- Return the reservations ($2) of quota $1 that attempts leased at $3 did not spend. Only
-- reservations of this period that were made since the quota was set count.
UPDATE limits AS l SET spent = greatest(0, l.spent - (
    SELECT coalesce(sum(n.amount), 0)
    FROM unnest($2::float8[], $3::timestamptz[]) AS n (amount, leased_at)
    WHERE n.leased_at >= l.begun))
WHERE l.name = $1 AND l.begun >= {_PERIOD}
"""

_SET_LIMIT = """
-- The spent part of a quota stays, unless the period changes. Reservations from before the quota
-- was set are never returned to it.
INSERT INTO limits AS l (name, amount, period, begun)
VALUES ($1, $2, $3, CASE WHEN $3::text IS NOT NULL THEN clock_timestamp() END)
ON CONFLICT (name) DO UPDATE SET
    amount = excluded.amount, period = excluded.period,
    spent = CASE WHEN l.period = excluded.period THEN l.spent ELSE 0 END,
    begun = CASE WHEN l.period = excluded.period THEN l.begun ELSE excluded.begun END
"""

_REMOVE_LIMIT = "DELETE FROM limits WHERE name = $1 RETURNING name"


@dataclass(frozen=True, slots=True)
class LimitState:
    """A limit, with the number of ready jobs that need its resource."""

    limit: Limit
    waiting: int

    def to_contract(self) -> ResourceLimit:
        """Return the limit as the API shows it."""
        limit = self.limit
        return ResourceLimit(
            name=limit.name,
            amount=limit.amount,
            period=limit.period,
            used=round(limit.used, 6),
            refills=limit.refills,
            waiting=self.waiting,
        )


async def list_limit_states(
    connection: Connection, names: Iterable[str] | None = None
) -> list[LimitState]:
    """Return the limits of these resources, or all limits."""
    name_list = None if names is None else list(names)
    return [_build_limit_state(row) for row in await connection.fetch(_SELECT_LIMITS, name_list)]


async def add_limits(connection: Connection, demands: Sequence[Demand]) -> list[Demand]:
    """Return the demands, each with the current limits of the resources that it needs."""
    names = {name for demand in demands for name in demand.needs.named}
    if not names:
        return list(demands)
    limits = {state.limit.name: state.limit for state in await list_limit_states(connection, names)}
    return [
        replace(
            demand,
            limits={name: limits[name] for name in demand.needs.named if name in limits},
        )
        for demand in demands
    ]


async def lock_named(connection: Connection, demand: Demand) -> Demand:
    """Lock the resources that the demand names, until the transaction ends.

    No other transaction leases jobs that need one of these resources meanwhile. Call it within a
    transaction and before any lock of a task.

    Returns:
        The demand with the limits as they are under the lock.
    """
    await connection.execute(_LOCK_NAMES, sorted(demand.needs.named))
    [locked] = await add_limits(connection, [demand])
    return locked


async def spend(connection: Connection, demand: Demand, *, jobs: int) -> None:
    """Spend the quotas of leased jobs, under the lock of ``lock_named``."""
    for _, limit in sorted(demand.limits.items()):
        if limit.period is not None:
            await connection.execute(_SPEND, limit.name, demand.needs.named[limit.name] * jobs)


async def return_unspent(
    connection: Connection, unspent_amounts: Mapping[str, Sequence[tuple[float, datetime]]]
) -> None:
    """Return to the quotas what attempts reserved and did not spend.

    This must be the last statement of its transaction: rows of limits are locked after those of
    tasks, in the order of their names, as by ``spend``.

    Args:
        connection: A connection within a transaction.
        unspent_amounts: By the name of the resource, amounts with the lease time of each attempt.
    """
    for name, parts in sorted(unspent_amounts.items()):
        amounts, times = zip(*parts, strict=True)
        await connection.execute(_GIVE_BACK, name, list(amounts), list(times))


async def list_largest_users(connection: Connection, name: str, *, limit: int) -> list[UsingStep]:
    """Return the steps whose jobs use most of the resource."""
    return [UsingStep(**row) for row in await connection.fetch(_SELECT_HOLDERS, name, limit)]


async def set_limit(connection: Connection, new: SetLimit) -> None:
    """Create or change a limit under the lock of its resource."""
    await connection.execute(_LOCK_NAMES, [new.name])
    await connection.execute(_SET_LIMIT, new.name, new.amount, new.period)


async def remove_limit(connection: Connection, name: str) -> bool:
    """Delete the limit; return False if there was none."""
    await connection.execute(_LOCK_NAMES, [name])
    return await connection.fetchval(_REMOVE_LIMIT, name) is not None


def _build_limit_state(row: Any) -> LimitState:
    period = None if row["period"] is None else LimitPeriod(row["period"])
    limit = Limit(row["name"], row["amount"], row["used"], period, row["refills"])
    return LimitState(limit, row["waiting"])
