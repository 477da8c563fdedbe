"""SQL on the intake's cursor, handovers and unmatched data sets."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sluice.contracts.access.owners import EVERYONE, Visibility
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.chains.intake import Unmatched
from sluice.contracts.common.problems import Finding
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Connection

_READ_CURSOR = "SELECT value FROM cursor"

_MOVE_CURSOR = """
-- Return no row if another instance has moved the cursor.
UPDATE cursor SET value = $2 WHERE value IS NOT DISTINCT FROM $1 RETURNING 1
"""

_INSERT_HANDOVER = """
INSERT INTO handovers (dataset_uid, chain) VALUES ($1, $2) ON CONFLICT (dataset_uid) DO NOTHING
"""

_CLAIM_HANDOVERS = """
-- Claim due handovers. The claim keeps other instances away for a while.
UPDATE handovers SET attempts = attempts + 1, next_try_at = now() + $1, claim_token = $3
WHERE dataset_uid IN (
    SELECT dataset_uid FROM handovers WHERE next_try_at <= now() ORDER BY next_try_at LIMIT $2
    FOR UPDATE SKIP LOCKED
)
RETURNING dataset_uid, chain, attempts
"""

_POSTPONE_HANDOVER = """
UPDATE handovers SET next_try_at = now() + $2, reason = $3, claim_token = NULL
WHERE dataset_uid = $1
"""

_RELEASE_HANDOVERS = """
-- Skip locked rows: another instance has them now.
UPDATE handovers SET next_try_at = now(), claim_token = NULL WHERE dataset_uid = ANY(ARRAY(
    SELECT dataset_uid FROM handovers WHERE claim_token = $1 FOR UPDATE SKIP LOCKED))
"""

_SELECT_WAITING_HANDOVER = "SELECT reason FROM handovers WHERE dataset_uid = $1 AND reason <> ''"

_DELETE_HANDOVER = "DELETE FROM handovers WHERE dataset_uid = $1 RETURNING 1"

_UPSERT_UNMATCHED = """
INSERT INTO unmatched (dataset_uid, dataset_name, reason, findings, since, dataset)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (dataset_uid) DO UPDATE
SET reason = EXCLUDED.reason, findings = EXCLUDED.findings, dataset = EXCLUDED.dataset
"""

_DELETE_UNMATCHED = "DELETE FROM unmatched WHERE dataset_uid = $1 RETURNING 1"

#: Condition that a row belongs to one of these groups; null means all rows. A data set that is only
#: shared with a group is not shown, because reasons name templates.
_IS_VISIBLE = "({0}::text[] IS NULL OR coalesce(dataset->>'group', 'everyone') = ANY({0}))".format

_DELETE_UNMATCHED_UNTIL = f"""
WITH gone AS (DELETE FROM unmatched WHERE since <= $1 AND {_IS_VISIBLE("$2")} RETURNING 1)
SELECT count(*) FROM gone
"""

_HAS_UNMATCHED = "SELECT EXISTS (SELECT 1 FROM unmatched WHERE dataset_uid = $1)"

_SELECT_GROUPS = "SELECT dataset FROM unmatched WHERE dataset_uid = $1"

_LOCK_UNMATCHED = "SELECT 1 FROM unmatched WHERE dataset_uid = $1 FOR UPDATE"

_SELECT_UNMATCHED = f"""
SELECT dataset_uid, dataset_name, reason, findings, since, dataset FROM unmatched
WHERE {_IS_VISIBLE("$2")} ORDER BY since DESC, dataset_uid LIMIT $1
"""

_COUNT_UNMATCHED = f"SELECT count(*) FROM unmatched WHERE {_IS_VISIBLE('$1')}"

_SELECT_OLDEST_UNMATCHED = """
-- Unmatched data sets after a position, in order of arrival.
SELECT dataset_uid, since FROM unmatched
WHERE $1::timestamptz IS NULL OR (since, dataset_uid) > ($1, $2) ORDER BY since, dataset_uid
LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class Handover:
    """A decision to hand over to the chain service."""

    dataset: UUID
    chain: NewChain
    attempts: int


async def find_cursor(connection: Connection) -> str | None:
    """Return the cursor, or None at the beginning."""
    value: str | None = await connection.fetchval(_READ_CURSOR)
    return value


async def move_cursor(connection: Connection, *, old: str | None, new: str | None) -> bool:
    """Move the cursor; return False if another instance has moved it meanwhile."""
    return await connection.fetchval(_MOVE_CURSOR, old, new) is not None


async def insert_handover(connection: Connection, chain: NewChain) -> None:
    """Store the chain to hand over, unless its data set has one already."""
    await connection.execute(_INSERT_HANDOVER, chain.dataset.uid, chain.model_dump(mode="json"))


async def claim_handovers(
    connection: Connection, token: UUID, *, claim_duration: timedelta, limit: int
) -> list[Handover]:
    """Claim handovers that are due, for the time ``claim_duration``."""
    rows = await connection.fetch(_CLAIM_HANDOVERS, claim_duration, limit, token)
    return [
        Handover(row["dataset_uid"], NewChain.model_validate(row["chain"]), row["attempts"])
        for row in rows
    ]


async def postpone_handover(
    connection: Connection, dataset: UUID, *, pause: timedelta, reason: str
) -> None:
    """Give up the claim and try again after the pause."""
    await connection.execute(_POSTPONE_HANDOVER, dataset, pause, reason)


async def find_handover_reason(connection: Connection, dataset: UUID) -> str | None:
    """Return the reason; None if the handover does not wait or was not tried yet."""
    reason: str | None = await connection.fetchval(_SELECT_WAITING_HANDOVER, dataset)
    return reason


async def release_handovers(connection: Connection, token: UUID) -> None:
    """Give up all claims of the token."""
    await connection.execute(_RELEASE_HANDOVERS, token)


async def delete_handover(connection: Connection, dataset: UUID) -> bool:
    """Delete a handover; return False if it was deleted before."""
    return await connection.fetchval(_DELETE_HANDOVER, dataset) is not None


async def store_unmatched(
    connection: Connection,
    dataset: Dataset,
    *,
    reason: str,
    now: datetime,
    findings: list[Finding] | None = None,
) -> None:
    """Store an unmatched data set with its reason; one that is stored keeps its time."""
    finding_documents = [finding.model_dump(mode="json") for finding in findings or []]
    document = dataset.model_dump(mode="json")
    await connection.execute(
        _UPSERT_UNMATCHED, dataset.uid, dataset.name, reason, finding_documents, now, document
    )


async def has_unmatched(connection: Connection, dataset: UUID) -> bool:
    """Return whether the data set is unmatched."""
    return bool(await connection.fetchval(_HAS_UNMATCHED, dataset))


async def lock_unmatched(connection: Connection, dataset: UUID) -> bool:
    """Lock an unmatched data set until the transaction ends; return False if it is not there."""
    return await connection.fetchval(_LOCK_UNMATCHED, dataset) is not None


async def delete_unmatched(connection: Connection, dataset: UUID) -> bool:
    """Delete an unmatched data set; return False if it is not there."""
    return await connection.fetchval(_DELETE_UNMATCHED, dataset) is not None


async def delete_unmatched_until(
    connection: Connection, until: datetime, visibility: Visibility
) -> int:
    """Delete those that were unmatched by then; return how many there were."""
    return int(await connection.fetchval(_DELETE_UNMATCHED_UNTIL, until, visibility.names()) or 0)


async def list_unmatched(
    connection: Connection, *, limit: int, visibility: Visibility
) -> list[Unmatched]:
    """Return the visible unmatched data sets, newest first."""
    rows = await connection.fetch(_SELECT_UNMATCHED, limit, visibility.names())
    return [Unmatched.model_validate(dict(row)) for row in rows]


async def count_unmatched(connection: Connection, visibility: Visibility) -> int:
    """Count the visible unmatched data sets."""
    return int(await connection.fetchval(_COUNT_UNMATCHED, visibility.names()) or 0)


async def is_visible_unmatched(
    connection: Connection, dataset: UUID, visibility: Visibility
) -> bool:
    """Return whether the data set is unmatched and belongs to a group of the caller."""
    if visibility.groups is None:
        return await has_unmatched(connection, dataset)
    row = await connection.fetchrow(_SELECT_GROUPS, dataset)
    return row is not None and visibility.is_member((row["dataset"] or {}).get("group", EVERYONE))


class UnmatchedPlace(NamedTuple):
    """The place of an unmatched data set in the order of their times."""

    since: datetime
    uid: UUID


async def list_oldest_unmatched(
    connection: Connection, *, after: UnmatchedPlace | None, limit: int
) -> list[UnmatchedPlace]:
    """Return a page of unmatched data sets, the oldest first."""
    rows = await connection.fetch(_SELECT_OLDEST_UNMATCHED, *(after or (None, None)), limit)
    return [UnmatchedPlace(row["since"], row["dataset_uid"]) for row in rows]
