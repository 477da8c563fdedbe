"""How many chains groups have, and may have, at a time."""

from sluice.contracts.groups import GroupChains, Quota
from sluice.contracts.owners import Sight
from sluice.contracts.states import ChainState
from sluice.servicekit.database import Connection

#: Of PostgreSQL's advisory locks, those of groups.
_LOCKS = 0x5147
_UNDER_WAY = f"state IN ('{ChainState.IN_PROGRESS}', '{ChainState.UPLOADING}')"

SELECT = "SELECT chains FROM group_quotas WHERE name = $1"

LOCK = f"SELECT pg_advisory_xact_lock({_LOCKS}, hashtext($1))"

USED = f"SELECT count(*) FROM chains WHERE {_UNDER_WAY} AND owner_group = $1"

LIST = f"""
SELECT coalesce(u.owner_group, q.name) AS name, q.chains AS most, coalesce(u.used, 0) AS used
FROM (
    SELECT owner_group, count(*) AS used FROM chains WHERE {_UNDER_WAY} GROUP BY owner_group
) AS u FULL JOIN group_quotas AS q ON q.name = u.owner_group
"""

SET = """
INSERT INTO group_quotas (name, chains) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET chains = $2
"""


async def set_quota(connection: Connection, group: str, chains: int | None) -> None:
    await connection.execute(SET, group, chains)


async def quota_of(connection: Connection, group: str) -> Quota | None:
    """With how many the group has now, to which nobody adds until the transaction ends; None: it
    may have any number."""
    most = await connection.fetchval(SELECT, group)
    if most is None:
        return None
    await connection.execute(LOCK, group)
    return Quota(used=await connection.fetchval(USED, group), most=most)


async def chains_of_groups(connection: Connection, sight: Sight) -> list[GroupChains]:
    """By name."""
    found = [
        GroupChains(group=row["name"], chains=Quota(used=row["used"], most=row["most"]))
        for row in await connection.fetch(LIST)
    ]
    return sorted((each for each in found if sight.is_member(each.group)), key=lambda e: e.group)
