"""The tables ``assets`` and ``asset_drafts``, and their statements."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg

from sluice.contracts.data.assets import AssetCheck, AssetFile, AssetVersion, NewAssetFile
from sluice.servicekit.database import Connection

_LOCK_NAME = """
-- Only one transaction at a time stores or withdraws a version of this asset.
SELECT pg_advisory_xact_lock(hashtextextended('asset ' || $1, 0))
"""

_COLUMNS = """name, version, digest, dataset_uid, files, note, check_tool, created_at, removed_at,
    deleted_at"""

_SELECT_ALL = f"SELECT {_COLUMNS} FROM assets ORDER BY name, version DESC"

_SELECT_NAMED = f"SELECT {_COLUMNS} FROM assets WHERE name = $1 ORDER BY version DESC"

_SELECT_BY_DATASET = f"SELECT {_COLUMNS} FROM assets WHERE dataset_uid = $1"

_SELECT_CONTENT = f"""
-- The available version with exactly this content.
SELECT {_COLUMNS} FROM assets WHERE name = $1 AND digest = $2 AND removed_at IS NULL
"""

_COUNT_CONTENT = """
-- How often this content was withdrawn. Its files were deleted each time.
SELECT count(*) FROM assets WHERE name = $1 AND digest = $2 AND removed_at IS NOT NULL
"""

_INSERT_VERSION = f"""
-- Numbers of withdrawn versions are not used again.
INSERT INTO assets (name, version, digest, dataset_uid, files, note, check_tool)
SELECT $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5, $6 FROM assets WHERE name = $1
RETURNING {_COLUMNS}
"""

_REMOVE = f"""
-- Withdraw all versions, or only $2.
UPDATE assets SET removed_at = now()
WHERE name = $1 AND ($2::integer IS NULL OR version = $2) AND removed_at IS NULL
RETURNING {_COLUMNS}
"""

_SELECT_TO_DELETE = f"""
SELECT {_COLUMNS} FROM assets WHERE removed_at IS NOT NULL AND deleted_at IS NULL
ORDER BY removed_at LIMIT $1
"""

_MARK_DELETED = """
UPDATE assets SET deleted_at = now()
WHERE dataset_uid = $1 AND removed_at IS NOT NULL AND deleted_at IS NULL
"""

_INSERT_DRAFT = """
-- Two uploads of the same files share one draft.
INSERT INTO asset_drafts (dataset_uid, name, files, note, check_tool) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (dataset_uid) DO UPDATE SET
    touched_at = now(), check_tool = coalesce(excluded.check_tool, asset_drafts.check_tool)
WHERE asset_drafts.given_up_at IS NULL
RETURNING dataset_uid
"""

_SELECT_DRAFT = """
SELECT dataset_uid, name, files, note, check_tool FROM asset_drafts
WHERE dataset_uid = $1 AND name = $2 AND given_up_at IS NULL
"""

_NOTE_CHECKSUM = """
-- Keep the checksum of a file that was announced without one.
UPDATE asset_drafts SET files = jsonb_set(files, ARRAY[$2::text, 'checksum'], to_jsonb($3::text))
WHERE dataset_uid = $1 AND files #>> ARRAY[$2::text, 'checksum'] IS NULL
"""

_TOUCH_DRAFT = "UPDATE asset_drafts SET touched_at = now() WHERE dataset_uid = $1"

_LOCK_DRAFT = f"{_SELECT_DRAFT} FOR UPDATE"

_GIVE_UP = "UPDATE asset_drafts SET given_up_at = now() WHERE dataset_uid = $1"

_GIVE_UP_STALE = """
-- Give up drafts that nobody has continued for $1. Return given-up drafts until their data sets are
-- being deleted.
WITH stale AS (
    UPDATE asset_drafts SET given_up_at = now()
    WHERE given_up_at IS NULL AND touched_at < now() - $1::interval
)
SELECT dataset_uid FROM asset_drafts WHERE given_up_at IS NOT NULL LIMIT $2
"""

_DELETE_DRAFT = "DELETE FROM asset_drafts WHERE dataset_uid = $1"


@dataclass(frozen=True, slots=True)
class Draft:
    """A version whose files are being sent; ``uid`` is the uid of its data set."""

    uid: UUID
    name: str
    files: list[NewAssetFile]
    note: str
    check: AssetCheck | None


async def lock_asset(connection: Connection, name: str) -> None:
    """Lock an asset until the transaction ends."""
    await connection.execute(_LOCK_NAME, name)


async def list_all_versions(connection: Connection) -> list[AssetVersion]:
    """Return all versions, by name, the newest version of each asset first."""
    return [_to_version(row) for row in await connection.fetch(_SELECT_ALL)]


async def list_versions(connection: Connection, name: str) -> list[AssetVersion]:
    """Return the versions of an asset, the newest first."""
    return [_to_version(row) for row in await connection.fetch(_SELECT_NAMED, name)]


async def find_version_by_digest(
    connection: Connection, name: str, digest: str
) -> AssetVersion | None:
    """Return the version with this content that has not been removed."""
    return _version_or_none(await connection.fetchrow(_SELECT_CONTENT, name, bytes.fromhex(digest)))


async def find_version_by_dataset(connection: Connection, dataset: UUID) -> AssetVersion | None:
    """Return the version whose files the data set has, even if the version was removed."""
    return _version_or_none(await connection.fetchrow(_SELECT_BY_DATASET, dataset))


async def count_removed_versions(connection: Connection, name: str, digest: str) -> int:
    """Return how many versions with this content were removed."""
    return int(await connection.fetchval(_COUNT_CONTENT, name, bytes.fromhex(digest)) or 0)


async def insert_version(
    connection: Connection, draft: Draft, *, digest: str, files: Sequence[AssetFile]
) -> AssetVersion:
    """Store a draft as the next version of its asset.

    The caller holds the lock of the asset, and no version with this content is available.
    """
    row = await connection.fetchrow(
        _INSERT_VERSION,
        draft.name,
        bytes.fromhex(digest),
        draft.uid,
        [file.model_dump(mode="json") for file in files],
        draft.note,
        draft.check and draft.check.model_dump(mode="json"),
    )
    return _to_version(row)


async def mark_removed(
    connection: Connection, name: str, *, version: int | None
) -> list[AssetVersion]:
    """Mark one version, or with None all versions, as removed; return those just marked."""
    return [_to_version(row) for row in await connection.fetch(_REMOVE, name, version)]


async def list_versions_to_delete(connection: Connection, *, limit: int) -> list[AssetVersion]:
    """Return removed versions whose files still exist, the earliest removed first."""
    return [_to_version(row) for row in await connection.fetch(_SELECT_TO_DELETE, limit)]


async def mark_deleted(connection: Connection, dataset: UUID) -> None:
    """Record that the DMS has taken over the deletion of a removed version's files."""
    await connection.execute(_MARK_DELETED, dataset)


async def store_draft(connection: Connection, draft: Draft) -> bool:
    """Store a draft, or renew the one that exists; return False if it was abandoned."""
    files = [file.model_dump(mode="json") for file in draft.files]
    check = draft.check and draft.check.model_dump(mode="json")
    stored = await connection.fetchval(
        _INSERT_DRAFT, draft.uid, draft.name, files, draft.note, check
    )
    return stored is not None


async def find_draft(
    connection: Connection, uid: UUID, name: str, *, lock: bool = False
) -> Draft | None:
    """Return a draft that has not been abandoned; ``lock`` locks its row."""
    row = await connection.fetchrow(_LOCK_DRAFT if lock else _SELECT_DRAFT, uid, name)
    if row is None:
        return None
    files = [NewAssetFile.model_validate(file) for file in row["files"]]
    return Draft(row["dataset_uid"], row["name"], files, row["note"], _to_check(row))


async def note_checksum(connection: Connection, uid: UUID, number: int, checksum: str) -> None:
    """Record the checksum of a stored file of a draft, unless the draft has it already."""
    await connection.execute(_NOTE_CHECKSUM, uid, str(number), checksum)


async def touch_draft(connection: Connection, uid: UUID) -> None:
    """Record that a client still sends the draft."""
    await connection.execute(_TOUCH_DRAFT, uid)


async def abandon_draft(connection: Connection, uid: UUID) -> None:
    """Mark a draft as abandoned, so that its data set gets deleted."""
    await connection.execute(_GIVE_UP, uid)


async def abandon_stale_drafts(
    connection: Connection, *, after: timedelta, limit: int
) -> list[UUID]:
    """Abandon drafts untouched for ``after``; return data sets of abandoned drafts to delete."""
    return [row["dataset_uid"] for row in await connection.fetch(_GIVE_UP_STALE, after, limit)]


async def delete_draft(connection: Connection, uid: UUID) -> None:
    """Delete the row of a draft."""
    await connection.execute(_DELETE_DRAFT, uid)


def _to_check(row: asyncpg.Record) -> AssetCheck | None:
    return row["check_tool"] and AssetCheck.model_validate(row["check_tool"])


def _version_or_none(row: asyncpg.Record | None) -> AssetVersion | None:
    return None if row is None else _to_version(row)


def _to_version(row: Any) -> AssetVersion:
    return AssetVersion(
        name=row["name"],
        version=row["version"],
        digest=row["digest"].hex(),
        dataset_uid=row["dataset_uid"],
        files=row["files"],
        note=row["note"],
        check=_to_check(row),
        created_at=row["created_at"],
        removed_at=row["removed_at"],
        deleted_at=row["deleted_at"],
    )
