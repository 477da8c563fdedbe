"""The table ``templates`` and its statements."""

from typing import Any
from uuid import UUID

import asyncpg

from sluice.contracts.access.owners import EVERYONE, Visibility
from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.database import Connection
from wfms.operator.templates.domain.submitted_files import UNNAMED
from wfms.operator.templates.domain.template import StoredTemplate

_LOCK_NAME = """
-- Only one transaction at a time stores a version of this template, so that versions are unique and
-- have no gaps.
SELECT pg_advisory_xact_lock(hashtextextended('template ' || $1, 0))
"""

_SINCE = (
    "(SELECT since FROM disabled_templates WHERE disabled_templates.name = templates.name) AS"
    " disabled_since"
)
_OWNED = (
    "(SELECT to_jsonb(owned) FROM template_owners AS owned WHERE owned.name = templates.name) AS"
    " owned"
)
_ALL_COLUMNS = f"*, {_SINCE}, {_OWNED}"

#: Condition: a principal in these groups sees the template; null sees all templates.
_IS_VISIBLE = """({0}::text[] IS NULL OR NOT EXISTS (
        SELECT FROM template_owners AS owned WHERE owned.name = templates.name
            AND NOT (owned.owner_group = ANY({0}) OR owned.shared_with && {0})))""".format

_INSERT_TEMPLATE = f"""
-- The next version of the name. Numbers of deleted versions are not used again.
INSERT INTO templates (id, name, version, text, template, plan, warnings, main, files)
SELECT $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6, $7, $8 FROM templates WHERE name = $2
RETURNING {_ALL_COLUMNS}
"""

_SELECT_NEXT_VERSION = "SELECT coalesce(max(version), 0) + 1 FROM templates WHERE name = $1"

_SELECT_LATEST = f"""
-- The latest version of a name that is not deleted.
SELECT {_ALL_COLUMNS} FROM templates WHERE name = $1 AND deleted_at IS NULL AND {_IS_VISIBLE("$2")}
ORDER BY version DESC LIMIT 1
"""

_SELECT_VERSION = f"""
SELECT {_ALL_COLUMNS} FROM templates WHERE name = $1 AND version = $2 AND {_IS_VISIBLE("$3")}
"""

_SELECT_BY_ID = f"SELECT {_ALL_COLUMNS} FROM templates WHERE id = $1 AND {_IS_VISIBLE('$2')}"

_WITHOUT_FILES = f"""
    id, name, version, plan, warnings, created_at, deleted_at, main, '' AS text,
    '{{}}'::jsonb AS template, NULL::jsonb AS files, {_SINCE}, {_OWNED}
"""

_WITH_TEXT = _WITHOUT_FILES.replace("'' AS text", "text")

_SELECT_ALL_LATEST = f"""
-- The latest version of each name that is not deleted.
SELECT DISTINCT ON (name) {_WITHOUT_FILES} FROM templates
WHERE deleted_at IS NULL AND {_IS_VISIBLE("$1")}
ORDER BY name, version DESC
"""

_SELECT_ALL_ENABLED = f"""
-- Templates that data sets may go through, without texts, because the intake reads them often.
SELECT DISTINCT ON (name) {_WITHOUT_FILES} FROM templates
WHERE deleted_at IS NULL AND name NOT IN (SELECT name FROM disabled_templates)
    AND {_IS_VISIBLE("$1")}
ORDER BY name, version DESC
"""

_SELECT_ALL = f"""
-- Every version that is not deleted, of all names or of $1.
SELECT {_WITHOUT_FILES} FROM templates
WHERE deleted_at IS NULL AND ($1::text IS NULL OR name = $1) AND {_IS_VISIBLE("$2")}
ORDER BY name, version DESC
"""

_DISABLE = "INSERT INTO disabled_templates (name) VALUES ($1) ON CONFLICT (name) DO NOTHING"

_ENABLE = "DELETE FROM disabled_templates WHERE name = $1"

_DELETE_TEMPLATE = """
-- Delete all versions of a name. Running chains have their own copy of the plan.
UPDATE templates SET deleted_at = now() WHERE name = $1 AND deleted_at IS NULL RETURNING version
"""


async def lock_name(connection: Connection, name: str) -> None:
    """Lock a template name until the transaction ends."""
    await connection.execute(_LOCK_NAME, name)


async def insert_template(connection: Connection, template: StoredTemplate) -> StoredTemplate:
    """Store a template as the next version of its name; its own version and times are ignored."""
    row = await connection.fetchrow(_INSERT_TEMPLATE, *stored_values(template))
    assert row is not None  # noqa: S101 - INSERT … SELECT of an aggregate gives one row
    return to_template(row)


def stored_values(template: StoredTemplate) -> tuple[Any, ...]:
    """Return values of the columns id, name, text, template, plan, warnings, main, files."""
    return (
        template.id,
        template.name,
        template.text,
        template.document,
        template.plan.model_dump(mode="json"),
        [finding.model_dump(mode="json") for finding in template.warnings],
        template.main,
        None if template.files.keys() == {template.main} else template.files,
    )


async def get_next_version(connection: Connection, name: str) -> int:
    """Return the version number that the next template of this name gets."""
    return int(await connection.fetchval(_SELECT_NEXT_VERSION, name) or 1)


async def find_latest(
    connection: Connection, name: str, visibility: Visibility
) -> StoredTemplate | None:
    """Return the latest version that is not deleted and visible; None if there is none."""
    return to_template_or_none(await connection.fetchrow(_SELECT_LATEST, name, visibility.names()))


async def find_version(
    connection: Connection, name: str, version: int, visibility: Visibility
) -> StoredTemplate | None:
    """Return a version of a template, even if it is deleted."""
    return to_template_or_none(
        await connection.fetchrow(_SELECT_VERSION, name, version, visibility.names())
    )


async def find_template_by_id(
    connection: Connection, template_id: UUID, visibility: Visibility
) -> StoredTemplate | None:
    """Return the template with this id, even if it is deleted."""
    return to_template_or_none(
        await connection.fetchrow(_SELECT_BY_ID, template_id, visibility.names())
    )


async def list_latest(
    connection: Connection, visibility: Visibility, *, disabled: bool, text: bool = False
) -> list[StoredTemplate]:
    """Return the latest version of each template, with empty documents.

    Args:
        connection: A connection to the database.
        visibility: The visibility of the principal.
        disabled: Whether to return disabled templates, too.
        text: Whether to read the texts of the workflows; otherwise they are empty.
    """
    statement = _SELECT_ALL_LATEST if disabled else _SELECT_ALL_ENABLED
    if text:
        statement = statement.replace(_WITHOUT_FILES, _WITH_TEXT)
    return [to_template(row) for row in await connection.fetch(statement, visibility.names())]


async def list_versions(
    connection: Connection, visibility: Visibility, name: str | None = None
) -> list[StoredTemplate]:
    """Return all versions that are not deleted, with empty texts and documents."""
    return [
        to_template(row) for row in await connection.fetch(_SELECT_ALL, name, visibility.names())
    ]


async def mark_disabled(connection: Connection, name: str) -> None:
    """Disable a template; one that is disabled keeps its time."""
    await connection.execute(_DISABLE, name)


async def mark_enabled(connection: Connection, name: str) -> None:
    """Enable a template."""
    await connection.execute(_ENABLE, name)


async def mark_versions_deleted(connection: Connection, name: str) -> list[int]:
    """Mark every version as deleted, and return those that were not deleted before.

    The name is enabled, so that a later template of this name is not disabled.
    """
    await connection.execute(_ENABLE, name)
    return [int(row["version"]) for row in await connection.fetch(_DELETE_TEMPLATE, name)]


def to_template_or_none(row: asyncpg.Record | None) -> StoredTemplate | None:
    """Return the template of a row; None without a row."""
    return None if row is None else to_template(row)


def to_template(row: asyncpg.Record) -> StoredTemplate:
    """Return the template of a row."""
    main, owned = row["main"] or UNNAMED, row["owned"] or {}
    return StoredTemplate(
        id=row["id"],
        name=row["name"],
        version=row["version"],
        main=main,
        files=row["files"] or {main: row["text"]},
        document=row["template"],
        plan=Plan.model_validate(row["plan"]),
        warnings=[Finding.model_validate(finding) for finding in row["warnings"]],
        created_at=row["created_at"],
        deleted_at=row["deleted_at"],
        disabled_at=row.get("disabled_since"),
        owner=owned.get("owner"),
        group=owned.get("owner_group", EVERYONE),
        shared_with=owned.get("shared_with", ()),
    )
