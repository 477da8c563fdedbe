"""Statements on the audit's rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from sluice.contracts.audit import FIRST, AuditKind, AuditRow
from sluice.servicekit.audit.request import PersonRequest, remote_now

if TYPE_CHECKING:
    from sluice.servicekit.database import Connection
else:
    Connection = object  # the database notes changes itself

INSERT = """
INSERT INTO audit (request, kind, who, role, action, remote, outcome, facts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
"""

HAS_WRITTEN = "SELECT pg_current_xact_id_if_assigned() IS NOT NULL"

_COLUMNS = "id, at, request, kind, who, role, action, remote, outcome, facts"

SELECT_FIRST = f"""
-- The newest first, behind the one of ($5, $6).
SELECT {_COLUMNS} FROM audit
WHERE kind IN ('{FIRST[0]}', '{FIRST[1]}') AND ($1::text IS NULL OR who = $1)
    AND ($2::text IS NULL OR strpos(lower(action), lower($2)) > 0)
    AND ($3::timestamptz IS NULL OR at >= $3) AND ($4::timestamptz IS NULL OR at < $4)
    AND ($5::timestamptz IS NULL OR (at, request) < ($5, $6::uuid))
ORDER BY at DESC, request DESC LIMIT $7
"""

SELECT_REQUESTS = f"SELECT {_COLUMNS} FROM audit WHERE request = ANY($1::uuid[]) ORDER BY id"


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """``what``: stands in the action. ``before``: time and request of the last one seen."""

    who: str | None = None
    what: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: tuple[datetime, UUID] | None = None
    limit: int = 100


async def note(
    connection: Connection, request: PersonRequest, kind: AuditKind, *, outcome: int | None = None
) -> None:
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


async def note_told(
    connection: Connection, who: str, action: str, *, role: str = "", outcome: int = 200
) -> None:
    """What is no request of a person who is known already. ``action``: in words."""
    uid, where = uuid4(), remote_now()
    await connection.execute(INSERT, uid, AuditKind.TOLD, who, role, action, where, outcome, {})


async def note_change(connection: Connection, request: PersonRequest) -> None:
    """With the transaction of ``connection``, where it has written anything."""
    if await connection.fetchval(HAS_WRITTEN):
        await note(connection, request, AuditKind.CHANGED)


async def first_rows(connection: Connection, query: AuditQuery) -> list[AuditRow]:
    """Those that entries begin with, the newest first."""
    rows = await connection.fetch(
        SELECT_FIRST,
        query.who,
        query.what,
        query.since,
        query.until,
        *(query.before or (None, None)),
        query.limit,
    )
    return [audit_row(row) for row in rows]


async def rows_of(connection: Connection, requests: Sequence[UUID]) -> list[AuditRow]:
    return [audit_row(row) for row in await connection.fetch(SELECT_REQUESTS, requests)]


def audit_row(row: Any) -> AuditRow:
    return AuditRow.model_construct(**{**row, "kind": AuditKind(row["kind"])})
