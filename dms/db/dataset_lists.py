"""Lists of the data sets that a principal may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dms.db.datasets import DatasetRow, to_row
from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.servicekit.database import Connection

#: SQL condition: the principal sees the data set. The parameter holds the groups of the
#: principal; null stands for a principal who sees all data sets.
_VISIBLE = "({0}::text[] IS NULL OR owner_group = ANY({0}) OR shared_with && {0})".format

SELECT_DATASETS = f"""
SELECT * FROM datasets WHERE uid = ANY($1::uuid[]) AND {_VISIBLE("$2")} ORDER BY position
"""

LIST_CLOSED = f"""
-- In order of closing: nothing with a smaller position or an earlier time appears later. The
-- subquery finds the last data set closed by $4 from the end, because few are newer. IS TRUE keeps
-- the planner from the index on states, which matches all data sets.
SELECT * FROM datasets
WHERE closed_position > $1 AND (state = ANY($2::text[])) IS TRUE AND ($3::text IS NULL OR type = $3)
    AND {_VISIBLE("$6")}
    AND closed_position > CASE WHEN $4::timestamptz IS NULL THEN 0 ELSE coalesce((
        SELECT closed_position FROM datasets WHERE closed_position IS NOT NULL AND closed_at <= $4
        ORDER BY closed_position DESC LIMIT 1
    ), 0) END
ORDER BY closed_position LIMIT $5
"""

_LIST_REGISTERED = f"""
-- In order of registration, for people.
SELECT * FROM datasets
WHERE position > $1 AND state = ANY($2::text[]) AND ($3::text IS NULL OR type = $3)
    AND ($4::timestamptz IS NULL OR coalesce(closed_at, registered_at) > $4)
    AND ($6::uuid[] IS NULL OR uid = ANY($6)) AND {_VISIBLE("$7")}
ORDER BY position LIMIT $5
"""

LIST_NEWEST = f"""
-- The newest first. $1 is 0 for the first page.
SELECT * FROM datasets
WHERE ($1 = 0 OR position < $1) AND state = ANY($2::text[]) AND ($3::text IS NULL OR type = $3)
    AND ($4::timestamptz IS NULL OR coalesce(closed_at, registered_at) > $4)
    AND ($6::uuid[] IS NULL OR uid = ANY($6)) AND {_VISIBLE("$7")}
ORDER BY position DESC LIMIT $5
"""


async def list_datasets_by_uid(
    connection: Connection, uids: Sequence[UUID], visibility: Visibility
) -> list[DatasetRow]:
    """Return the data sets that exist and that the principal sees, in order of registration."""
    rows = await connection.fetch(SELECT_DATASETS, uids, visibility.names())
    return [to_row(row) for row in rows]


@dataclass(frozen=True, slots=True)
class DatasetFilter:
    """The filter of a list of data sets.

    Attributes:
        states: States to include.
        type: Type to include; None includes all.
        later_than: Only data sets with a later timestamp.
        uids: Only these data sets; None includes all.
        visibility: The visibility of the principal.
    """

    states: Sequence[DatasetState]
    type: DatasetType | None = None
    later_than: datetime | None = None
    uids: Sequence[UUID] | None = None
    visibility: Visibility = ALL


async def list_closed(
    connection: Connection, after: int, *, limit: int, filters: DatasetFilter
) -> list[DatasetRow]:
    """Return a page of closed data sets in order of closing."""
    rows = await connection.fetch(
        LIST_CLOSED,
        after,
        filters.states,
        filters.type,
        filters.later_than,
        limit,
        filters.visibility.names(),
    )
    return [to_row(row) for row in rows]


async def list_registered(
    connection: Connection, after: int, *, limit: int, filters: DatasetFilter
) -> list[DatasetRow]:
    """Return a page of data sets in order of registration."""
    return await _list(connection, _LIST_REGISTERED, after, limit=limit, filters=filters)


async def list_newest(
    connection: Connection, after: int, *, limit: int, filters: DatasetFilter
) -> list[DatasetRow]:
    """Return a page of data sets, newest first; ``after`` 0 starts at the newest."""
    return await _list(connection, LIST_NEWEST, after, limit=limit, filters=filters)


async def _list(
    connection: Connection, statement: str, after: int, *, limit: int, filters: DatasetFilter
) -> list[DatasetRow]:
    rows = await connection.fetch(
        statement,
        after,
        filters.states,
        filters.type,
        filters.later_than,
        limit,
        filters.uids,
        filters.visibility.names(),
    )
    return [to_row(row) for row in rows]
