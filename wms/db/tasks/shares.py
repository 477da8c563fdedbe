"""Statements on the fair shares of groups."""

from collections.abc import Sequence
from dataclasses import replace

from sluice.contracts.access.groups import USUAL_WEIGHT, GroupShare
from sluice.contracts.access.owners import Visibility
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import FINAL_TASK_STATES
from wms.domain.scheduling.fair_share import compute_gains
from wms.domain.scheduling.matching import Demand

IN_USE = f"""
-- Live tasks by group, with the weights that were set. Uses the index tasks_live.
SELECT coalesce(u.owner_group, s.name) AS name, coalesce(s.weight, {USUAL_WEIGHT}) AS weight,
    coalesce(u.running, 0) AS running
FROM (
    SELECT owner_group, sum(leased + running)::bigint AS running
    FROM tasks WHERE state NOT IN ({FINAL_TASK_STATES}) GROUP BY owner_group
) AS u FULL JOIN group_shares AS s ON s.name = u.owner_group
"""

_SET_SHARE = """
INSERT INTO group_shares (name, weight) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET weight = $2
"""


async def set_share(connection: Connection, group: str, weight: float) -> None:
    """Set the weight of a group."""
    await connection.execute(_SET_SHARE, group, weight)


async def list_group_shares(connection: Connection, visibility: Visibility) -> list[GroupShare]:
    """Return the visible groups that have a weight or live tasks, by name."""
    shares = [
        GroupShare(group=row["name"], weight=row["weight"], running=row["running"])
        for row in await connection.fetch(IN_USE)
    ]
    return sorted(
        (share for share in shares if visibility.is_member(share.group)),
        key=lambda share: share.group,
    )


async def add_shares(connection: Connection, demands: Sequence[Demand]) -> list[Demand]:
    """Return the demands with ranks that include the fair share of their groups."""
    wanting = {demand.group for demand in demands}
    if len(wanting) < 2:  # one group alone has no competitor
        return list(demands)
    rows = await connection.fetch(IN_USE)
    gained = compute_gains(
        {row["name"]: row["running"] for row in rows},
        {row["name"]: row["weight"] for row in rows},
        wanting,
    )
    return [
        replace(demand, rank=demand.rank + gained[demand.group]) if gained[demand.group] else demand
        for demand in demands
    ]
