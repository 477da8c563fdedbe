"""Data sets whose upload or deletion makes no progress."""

from dataclasses import dataclass
from datetime import datetime

import asyncpg

from dms.db.datasets import to_dataset
from sluice.contracts.access.owners import Visibility
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_WORKING = statement("'{dataset.UPLOADING}', '{dataset.DELETING}'")

_SELECT_STALLED = statement(f"""
-- Uses the index datasets_working. Return the first data set for each reason, their number, and the
-- total for all reasons.
SELECT * FROM (
    SELECT *, count(*) OVER alike AS number, row_number() OVER (alike ORDER BY position) AS turn,
        count(*) OVER () AS in_all,
        min(greatest(upload_requested_at, closed_at))
            FILTER (WHERE state = '{{dataset.UPLOADING}}') OVER alike AS since
    FROM datasets
    WHERE state IN ({_WORKING}) AND reason IS NOT NULL AND claim_token IS NULL
        AND (failures >= $1 OR halted_at IS NOT NULL)
        AND lost IS NULL -- The failed chain reports lost data sets.
        AND ($3::text[] IS NULL OR owner_group = ANY($3) OR shared_with && $3)
    WINDOW alike AS (PARTITION BY state, reason, halted_at IS NOT NULL)
) AS stalled
WHERE turn = 1 ORDER BY number DESC, position LIMIT $2
""")


_RETRY_UPLOADS = statement("""
-- In order of uid, like every change of several data sets. Skip locked rows.
UPDATE datasets SET retry_at = NULL WHERE uid = ANY(ARRAY(
    SELECT uid FROM datasets WHERE state = '{dataset.UPLOADING}' AND retry_at IS NOT NULL
    ORDER BY uid FOR NO KEY UPDATE SKIP LOCKED))
""")


@dataclass(frozen=True, slots=True)
class StalledRow:
    """Data sets whose work fails for the same reason.

    Attributes:
        first: The first of them.
        reason: Why their work failed.
        halted: A person must resume the work.
        number: Number of data sets with this reason.
        in_all: Number of stalled data sets, whatever the reason.
        since: When the oldest upload among them could have started.
    """

    first: Dataset
    reason: str
    halted: bool
    number: int
    in_all: int
    since: datetime | None


async def retry_uploads(connection: Connection) -> None:
    """Make postponed uploads due at once."""
    await connection.execute(_RETRY_UPLOADS)


async def list_stalled_by_reason(
    connection: Connection, *, failures: int, limit: int, visibility: Visibility
) -> list[StalledRow]:
    """Return stalled data sets by reason, those with most data sets first.

    Args:
        connection: A connection to the catalogue.
        failures: Number of successive failures from which work counts as stalled.
        limit: Largest number of reasons.
        visibility: The visibility of the principal.
    """
    rows = await connection.fetch(_SELECT_STALLED, failures, limit, visibility.names())
    return [_build_stalled_row(row) for row in rows]


def _build_stalled_row(row: asyncpg.Record) -> StalledRow:
    return StalledRow(
        to_dataset(row), row["reason"], row["halted_at"] is not None, row["number"], row["in_all"],
            row["since"]
    )  # fmt: skip
