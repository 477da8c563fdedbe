"""SQL statements on the audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sluice.contracts.access.audit import FIRST, AuditFilter, AuditKind, AuditRow, AuditSearch
from sluice.contracts.common.problems import InvalidCursor
from sluice.servicekit.audit.request import PersonRequest, current_address

if TYPE_CHECKING:
    from sluice.servicekit.database import Connection
else:
    Connection = object  # the database module imports this one

INSERT = """
INSERT INTO audit (request, kind, who, role, action, remote, outcome, facts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

HAS_WRITTEN = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"

_COLUMNS = "id, at, request, kind, who, role, action, remote, outcome, facts"

SELECT_FIRST = f"""
-- The newest first, starting after ($5, $6).
SELECT {_COLUMNS} FROM audit AS first
WHERE kind IN ('{FIRST[0]}', '{FIRST[1]}') AND ($1::text IS NULL OR who = $1)
    AND ($2::text IS NULL OR strpos(lower(action), lower($2)) > 0)
    AND ($3::timestamptz IS NULL OR at >= $3) AND ($4::timestamptz IS NULL OR at < $4)
    AND ($5::timestamptz IS NULL OR (at, request) < ($5, $6::uuid))
    AND ($8::text[] IS NULL OR $8 && string_to_array(action, '/') OR EXISTS (
        -- Uses the index audit_request: events of the outcome name the object.
        SELECT FROM audit AS row, jsonb_each_text(row.facts) AS fact
        WHERE row.request = first.request AND fact.value = ANY($8) AND fact.key <> 'label'))
ORDER BY at DESC, request DESC LIMIT $7
"""

SELECT_REQUESTS = f"SELECT {_COLUMNS} FROM audit WHERE request = ANY($1::uuid[]) ORDER BY id"


def parse_cursor(filters: AuditFilter) -> tuple[datetime, UUID] | None:
    """Return time and request of the last entry on the previous page.

    Raises:
        InvalidCursor: The cursor cannot be read.
    """
    if filters.after is None:
        return None
    at, _, request = filters.after.partition("/")
    try:
        return datetime.fromisoformat(at), UUID(request)
    except ValueError as error:
        raise InvalidCursor(filters.after) from error


async def note(
    connection: Connection, request: PersonRequest, kind: AuditKind, *, outcome: int | None = None
) -> None:
    """Write an audit event of a request."""
    await connection.execute(
        INSERT,
        request.uid,
        kind,
        request.person.name,
        request.person.role,
        request.action,
        request.remote,
        outcome,
        request.facts,
    )


async def record_unauthenticated_request(
    connection: Connection, who: str, action: str, *, role: str = "", outcome: int = 200
) -> None:
    """Write an audit event of a request that has no authenticated person yet."""
    uid, where = uuid4(), current_address()
    await connection.execute(INSERT, uid, AuditKind.TOLD, who, role, action, where, outcome, {})


async def note_change(connection: Connection, request: PersonRequest) -> None:
    """Write an audit event if the transaction of ``connection`` has changed data."""
    if await connection.fetchval(HAS_WRITTEN):
        await note(connection, request, AuditKind.CHANGED)


async def list_first_rows(connection: Connection, query: AuditSearch) -> list[AuditRow]:
    """Return the first row of each matching request, newest first.

    Raises:
        InvalidCursor: The cursor of the page cannot be read.
    """
    rows = await connection.fetch(
        SELECT_FIRST,
        query.who,
        query.what,
        query.since,
        query.until,
        *(parse_cursor(query) or (None, None)),
        query.limit,
        query.names,
    )
    return [audit_row(row) for row in rows]


async def list_request_rows(connection: Connection, requests: Sequence[UUID]) -> list[AuditRow]:
    """Return all rows of the given requests."""
    return [audit_row(row) for row in await connection.fetch(SELECT_REQUESTS, requests)]


def audit_row(row: Any) -> AuditRow:
    """Return a database row as an ``AuditRow``."""
    return AuditRow.model_construct(**{**row, "kind": AuditKind(row["kind"])})
