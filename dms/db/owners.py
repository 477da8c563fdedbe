"""Owners and visibility of data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from dms.db.datasets import to_dataset
from sluice.contracts.access.owners import Visibility
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

OWNED = "SELECT name, owner_group, shared_with FROM datasets WHERE uid = $1"

FOREIGN_FOLDER = statement("""
-- One of these folders that belongs to a data set not visible to these groups. The folder of a
-- storage has no owner.
SELECT url FROM datasets
WHERE url = ANY($1::text[]) AND state <> '{dataset.DELETED}'
    AND NOT (owner_group = ANY($2::text[]) OR shared_with && $2)
    AND NOT EXISTS (SELECT FROM storages WHERE storages.url = datasets.url)
LIMIT 1
""")

_SELECT_FOREIGN_BELOW = statement("""
-- The same for folders below this one.
SELECT url FROM datasets
WHERE starts_with(url, $1 || '/') AND state <> '{dataset.DELETED}'
    AND NOT (owner_group = ANY($2::text[]) OR shared_with && $2)
LIMIT 1
""")

FOREIGN_FILE = statement("""
-- One of these places with a file that belongs to no data set visible to these groups.
SELECT place.path FROM unnest($1::uuid[], $2::text[]) AS place (storage_id, path)
    JOIN replicas ON replicas.storage_id = place.storage_id AND replicas.path = place.path
        AND replicas.state <> '{replica.DELETED}'
WHERE NOT EXISTS (
    SELECT FROM dataset_files AS entries JOIN datasets ON datasets.uid = entries.dataset_uid
    WHERE entries.file_id = replicas.file_id
        AND (owner_group = ANY($3::text[]) OR shared_with && $3))
LIMIT 1
""")

#: Advisory lock of PostgreSQL for the folders of data sets.
_LOCK = 0x5149

_LOCK_FOLDERS = f"SELECT pg_advisory_xact_lock({_LOCK})"

_SHARE_DATASET = """
UPDATE datasets SET shared_with = $2, owner_group = coalesce($3, owner_group) WHERE uid = $1
RETURNING *
"""


@dataclass(frozen=True, slots=True)
class DatasetOwnership:
    """The owning group of a data set, and the groups that it is shared with."""

    name: str
    group: str
    shared_with: Sequence[str]


async def lock_folders(connection: Connection) -> None:
    """Lock the folders of data sets: until the transaction ends, no other one gives folders."""
    await connection.execute(_LOCK_FOLDERS)


async def find_ownership(connection: Connection, uid: UUID) -> DatasetOwnership | None:
    """Return the group of a data set and the groups it is shared with; None if there is none."""
    row = await connection.fetchrow(OWNED, uid)
    return (
        None
        if row is None
        else DatasetOwnership(row["name"], row["owner_group"], row["shared_with"])
    )


async def find_foreign_folder(
    connection: Connection, urls: Sequence[str], visibility: Visibility
) -> str | None:
    """Return one of these URLs that is the folder of a data set the principal does not see."""
    folder: str | None = await connection.fetchval(FOREIGN_FOLDER, urls, visibility.names())
    return folder


async def contains_foreign_folder(connection: Connection, url: str, visibility: Visibility) -> bool:
    """Return whether a folder of a data set that the principal does not see is below ``url``."""
    return await connection.fetchval(_SELECT_FOREIGN_BELOW, url, visibility.names()) is not None


async def find_foreign_file(
    connection: Connection, places: Sequence[tuple[UUID, str]], visibility: Visibility
) -> str | None:
    """Return the path of one of these places whose file the principal does not see.

    Args:
        connection: A connection to the catalogue.
        places: Storage and path of each place.
        visibility: The visibility of the principal.
    """
    storages, paths = [storage for storage, _ in places], [path for _, path in places]
    path: str | None = await connection.fetchval(FOREIGN_FILE, storages, paths, visibility.names())
    return path


async def share(
    connection: Connection, uid: UUID, shared_with: Sequence[str], *, group: str | None
) -> Dataset:
    """Set the groups that a locked data set is shared with, and its group if one is given."""
    row = await connection.fetchrow(_SHARE_DATASET, uid, shared_with, group)
    assert row is not None  # noqa: S101 - it is locked, so it is there
    return to_dataset(row)
