"""How much data groups have, and may have."""

from sluice.contracts.groups import GroupData, Quota, SetGroupData
from sluice.contracts.owners import Sight
from sluice.contracts.states import DatasetState
from sluice.servicekit.database import Connection

#: Of PostgreSQL's advisory locks, those of groups.
_LOCKS = 0x5147

SELECT = "SELECT bytes, files FROM group_quotas WHERE name = $1"

LOCK = f"SELECT pg_advisory_xact_lock({_LOCKS}, hashtext($1))"

USED = f"""
-- By the index datasets_group.
SELECT coalesce(sum(bytes), 0)::bigint AS bytes, coalesce(sum(count_files), 0)::bigint AS files
FROM datasets WHERE owner_group = $1 AND state <> '{DatasetState.DELETED}'
"""

LIST = f"""
SELECT coalesce(u.owner_group, q.name) AS name, q.bytes AS most_bytes, q.files AS most_files,
    coalesce(u.bytes, 0)::bigint AS bytes, coalesce(u.files, 0)::bigint AS files
FROM (
    SELECT owner_group, sum(bytes) AS bytes, sum(count_files) AS files FROM datasets
    WHERE state <> '{DatasetState.DELETED}' GROUP BY owner_group
) AS u FULL JOIN group_quotas AS q ON q.name = u.owner_group
"""

SET = """
-- $3 and $5: whether $2 and $4 are said; what is not said stays.
INSERT INTO group_quotas AS known (name, bytes, files) VALUES ($1, $2, $4)
ON CONFLICT (name) DO UPDATE SET
    bytes = CASE WHEN $3 THEN $2 ELSE known.bytes END,
    files = CASE WHEN $5 THEN $4 ELSE known.files END
"""


async def set_quota(connection: Connection, group: str, new: SetGroupData) -> None:
    size, files = new.bytes, new.files
    await connection.execute(
        SET, group, _most(size), size is not None, _most(files), files is not None
    )


def _most(said: int | str | None) -> int | None:
    return said if isinstance(said, int) else None


async def quota_of(connection: Connection, group: str) -> GroupData | None:
    """With what the group has now, which no person adds to until the transaction ends; None: it may
    have as much as there is."""
    quota = await connection.fetchrow(SELECT, group)
    if quota is None or quota["bytes"] is quota["files"] is None:
        return None
    await connection.execute(LOCK, group)
    used = await connection.fetchrow(USED, group)
    assert used is not None  # noqa: S101 - sums without groups give one row
    return GroupData(
        group=group,
        bytes=Quota(used=used["bytes"], most=quota["bytes"]),
        files=Quota(used=used["files"], most=quota["files"]),
    )


async def data_of_groups(connection: Connection, sight: Sight) -> list[GroupData]:
    """By name."""
    found = [
        GroupData(
            group=row["name"],
            bytes=Quota(used=row["bytes"], most=row["most_bytes"]),
            files=Quota(used=row["files"], most=row["most_files"]),
        )
        for row in await connection.fetch(LIST)
    ]
    return sorted((each for each in found if sight.is_member(each.group)), key=lambda e: e.group)
