"""Claims on data sets: one instance at a time works on a data set outside a transaction.

A claim is a token on the row of the data set. Its holder renews it, and guards every change with
it. A change of zero rows means that the claim ended or that the state of the data set changed:
the holder stops its work.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted

CLAIM_WORK = """
-- Claim the data set that has waited longest in this state, if it is free and due.
UPDATE datasets SET claim_token = $1, claim_until = now() + $2
WHERE uid = (
    SELECT uid FROM datasets
    WHERE state = $3 AND halted_at IS NULL
        AND (claim_until IS NULL OR claim_until < now()) AND (retry_at IS NULL OR retry_at <= now())
    ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING *
"""

CLAIM_SWEEP = """
-- Claim a closed, uploaded or deleted data set whose folder is due for a sweep. IS TRUE keeps the
-- planner from the index on states, which matches all data sets.
UPDATE datasets SET claim_token = $1, claim_until = now() + $2
WHERE uid = (
    SELECT uid FROM datasets
    WHERE sweep_at <= now() AND (state = ANY($3::text[])) IS TRUE AND halted_at IS NULL
        AND (claim_until IS NULL OR claim_until < now()) AND (retry_at IS NULL OR retry_at <= now())
    ORDER BY sweep_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING *
"""

_RENEW_CLAIM = """
UPDATE datasets SET claim_until = now() + $3 WHERE uid = $1 AND claim_token = $2 AND state = $4
RETURNING 1
"""

_EXTEND_CLAIM = """
-- The lock keeps the claim and the state until the transaction ends.
SELECT 1 FROM datasets WHERE uid = $1 AND claim_token = $2 AND state = $3 FOR UPDATE
"""

_RELEASE_CLAIM = """
UPDATE datasets SET claim_token = NULL, claim_until = NULL WHERE uid = $1 AND claim_token = $2
"""

_POSTPONE_WORK = """
-- Record a transient failure, with the reason and the time of the next attempt.
UPDATE datasets SET failures = failures + 1, retry_at = now() + $3, reason = $4
WHERE uid = $1 AND claim_token = $2
"""

_HALT_WORK = """
-- Stop the work until a person resumes it.
UPDATE datasets SET halted_at = now(), reason = $4, lost = CASE WHEN $5 THEN $4 END
WHERE uid = $1 AND claim_token = $2 AND state = $3
"""


@dataclass(frozen=True, slots=True)
class DatasetClaim:
    """A claimed data set, as it was when it was claimed."""

    uid: UUID
    token: UUID
    name: str
    type: DatasetType
    state: DatasetState
    meta: dict[str, Any]
    #: The request that registered the data set.
    request: dict[str, Any]
    bytes: int
    upload_storage_id: UUID | None
    upload_url: str | None
    failures: int

    @property
    def folders(self) -> list[str]:
        """Return the folders of the files: the registered one and that of the upload."""
        return [url for url in (self.request["url"], self.upload_url) if url is not None]


class ClaimLost(Exception):
    """The claim ended, or the state of the data set changed: this instance must stop its work."""

    def __init__(self, claim: DatasetClaim) -> None:
        super().__init__(f"the claim on data set {quoted(claim.name)} has ended")
        self.claim = claim


async def claim_work(
    connection: Connection, token: UUID, *, state: DatasetState, seconds: float
) -> DatasetClaim | None:
    """Claim the data set that has waited longest in a state; return None if no work is due."""
    return _build_claim(
        await connection.fetchrow(CLAIM_WORK, token, timedelta(seconds=seconds), state)
    )


async def claim_sweep(
    connection: Connection, token: UUID, *, states: list[DatasetState], seconds: float
) -> DatasetClaim | None:
    """Claim a data set whose folder is due for a sweep; return None if there is none."""
    return _build_claim(
        await connection.fetchrow(CLAIM_SWEEP, token, timedelta(seconds=seconds), states)
    )


async def renew(connection: Connection, claim: DatasetClaim, seconds: float) -> bool:
    """Renew a claim; return False if it is lost."""
    return (
        await connection.fetchval(
            _RENEW_CLAIM, claim.uid, claim.token, timedelta(seconds=seconds), claim.state
        )
        is not None
    )


async def extend_claim(connection: Connection, claim: DatasetClaim) -> None:
    """Lock the row of a claimed data set until the transaction ends.

    Raises:
        ClaimLost: The claim ended, or the state of the data set changed.
    """
    if await connection.fetchval(_EXTEND_CLAIM, claim.uid, claim.token, claim.state) is None:
        raise ClaimLost(claim)


async def release(connection: Connection, claim: DatasetClaim) -> None:
    """Give up a claim."""
    await connection.execute(_RELEASE_CLAIM, claim.uid, claim.token)


async def retry_later(
    connection: Connection, claim: DatasetClaim, *, seconds: float, reason: str
) -> None:
    """Record a failure and its reason, and postpone the next attempt."""
    await connection.execute(
        _POSTPONE_WORK, claim.uid, claim.token, timedelta(seconds=seconds), reason
    )


async def stop_retrying(
    connection: Connection, claim: DatasetClaim, *, reason: str, lost: bool = False
) -> None:
    """Halt the work until a person resumes it.

    Args:
        connection: A connection to the catalogue.
        claim: The claim under which the work was done.
        reason: Why the work is halted.
        lost: The work cannot succeed.
    """
    await connection.execute(_HALT_WORK, claim.uid, claim.token, claim.state, reason, lost)


def _build_claim(row: asyncpg.Record | None) -> DatasetClaim | None:
    if row is None:
        return None
    fields = {field: row[field] for field in DatasetClaim.__dataclass_fields__ if field != "token"}
    return DatasetClaim(
        **{**fields, "type": DatasetType(row["type"]), "state": DatasetState(row["state"])},
        token=row["claim_token"],
    )
