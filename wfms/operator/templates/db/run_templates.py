"""Statements on the table ``run_templates``: unpublished templates, which match no data set."""

from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.contracts.templates.templates import RUN_VERSION
from sluice.servicekit.database import Connection
from wfms.operator.templates.db.templates import stored_values, to_template, to_template_or_none
from wfms.operator.templates.domain.template import StoredTemplate

_OWNED = (
    "jsonb_build_object('owner', owner, 'owner_group', owner_group, 'shared_with', '{}'::text[]) AS"
    " owned"
)
_IS_VISIBLE = "({0}::text[] IS NULL OR owner_group = ANY({0}))".format

_COLUMNS = f"""
    id, name, {RUN_VERSION} AS version, coalesce(run_at, created_at) AS created_at, deleted_at,
    main, text, files, template, plan, warnings, {_OWNED}
"""

_WITHOUT_FILES = f"""
    id, name, {RUN_VERSION} AS version, run_at AS created_at, deleted_at, main, '' AS text,
    NULL::jsonb AS files, '{{}}'::jsonb AS template, plan, warnings, {_OWNED}
"""

_RUN_AGAIN = f"""
-- Run the template of exactly these files again.
UPDATE run_templates SET run_at = now(), deleted_at = NULL,
    sent_by_publisher = sent_by_publisher OR $2
WHERE digest = $1 RETURNING {_COLUMNS}
"""

_INSERT_RUN = f"""
-- Another request with the same files may have stored the template first.
INSERT INTO run_templates (id, name, text, template, plan, warnings, main, files, digest, owner,
    owner_group, sent_by_publisher, run_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now())
ON CONFLICT (digest) DO UPDATE SET run_at = now(), deleted_at = NULL,
    sent_by_publisher = run_templates.sent_by_publisher OR $12
RETURNING {_COLUMNS}
"""

_INSERT_DRAFT = f"""
-- Store a draft. A template that was run before stays a run template.
INSERT INTO run_templates (id, name, text, template, plan, warnings, main, files, digest, owner,
    owner_group)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (digest) DO UPDATE SET created_at = now() RETURNING {_COLUMNS}
"""

_DELETE_DRAFT = "DELETE FROM run_templates WHERE id = $1 AND run_at IS NULL"

_DELETE_OLD_DRAFTS = """
-- Delete drafts that nobody published.
DELETE FROM run_templates WHERE run_at IS NULL AND created_at < now() - interval '7 days'
"""

_SELECT_BY_ID = f"SELECT {_COLUMNS} FROM run_templates WHERE id = $1 AND {_IS_VISIBLE('$2')}"

_SELECT_SENT_BY_PUBLISHER = "SELECT sent_by_publisher FROM run_templates WHERE id = $1"

_SELECT_ALL = f"""
-- The page after template $2, at its present position.
SELECT {_WITHOUT_FILES} FROM run_templates
WHERE run_at IS NOT NULL AND deleted_at IS NULL AND {_IS_VISIBLE("$3")}
    AND ($2::uuid IS NULL
    OR (run_at, id) < (
        SELECT before.run_at, before.id FROM run_templates AS before WHERE before.id = $2
    ))
ORDER BY run_at DESC, id DESC LIMIT $1
"""

_DELETE = f"""
UPDATE run_templates SET deleted_at = now()
WHERE id = $1 AND deleted_at IS NULL AND {_IS_VISIBLE("$2")} RETURNING id
"""


async def run_again(
    connection: Connection, digest: bytes, *, by_publisher: bool
) -> StoredTemplate | None:
    """Note another run of these files, or return None if they are not stored."""
    return to_template_or_none(await connection.fetchrow(_RUN_AGAIN, digest, by_publisher))


async def insert_run_template(
    connection: Connection, template: StoredTemplate, *, digest: bytes, by_publisher: bool
) -> StoredTemplate:
    """Insert a template that runs, or return the stored template with the same files."""
    row = await connection.fetchrow(_INSERT_RUN, *_list_values(template, digest), by_publisher)
    assert row is not None  # noqa: S101 - INSERT … DO UPDATE … RETURNING gives one row
    return to_template(row)


async def insert_draft_template(
    connection: Connection, template: StoredTemplate, *, digest: bytes
) -> StoredTemplate:
    """Insert a draft, or return the stored template with the same files."""
    row = await connection.fetchrow(_INSERT_DRAFT, *_list_values(template, digest))
    assert row is not None  # noqa: S101 - INSERT … DO UPDATE … RETURNING gives one row
    return to_template(row)


async def delete_draft_template(connection: Connection, template_id: UUID) -> None:
    """Delete a draft, unless it was run."""
    await connection.execute(_DELETE_DRAFT, template_id)


async def delete_old_draft_templates(connection: Connection) -> None:
    """Delete the drafts that nobody published within seven days."""
    await connection.execute(_DELETE_OLD_DRAFTS)


async def find_run_template_by_id(
    connection: Connection, template_id: UUID, visibility: Visibility
) -> StoredTemplate | None:
    """Return a visible template by its id, even if it is deleted, or None."""
    return to_template_or_none(
        await connection.fetchrow(_SELECT_BY_ID, template_id, visibility.names())
    )


async def was_sent_by_publisher(connection: Connection, template_id: UUID) -> bool:
    """Return whether somebody has run the template who may publish it for all groups."""
    return bool(await connection.fetchval(_SELECT_SENT_BY_PUBLISHER, template_id))


async def list_run(
    connection: Connection, visibility: Visibility, *, limit: int, after: UUID | None
) -> list[StoredTemplate]:
    """Return templates that were run, latest first, without their texts and documents."""
    rows = await connection.fetch(_SELECT_ALL, limit, after, visibility.names())
    return [to_template(row) for row in rows]


async def mark_unlisted(connection: Connection, template_id: UUID, visibility: Visibility) -> bool:
    """Mark a visible template as deleted. Return False if there is none."""
    return await connection.fetchval(_DELETE, template_id, visibility.names()) is not None


def _list_values(template: StoredTemplate, digest: bytes) -> tuple[Any, ...]:
    return (*stored_values(template), digest, template.owner, template.group)
