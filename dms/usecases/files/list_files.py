"""Read the files of a data set page by page."""

from collections.abc import Mapping
from uuid import UUID

from dms.db.datasets import find_dataset
from dms.db.files import ListedFile, find_file, select_files
from dms.db.storages import list_roots
from dms.domain.cursor import read_place, write_place
from dms.domain.errors import FileDeleted, UnknownDataset, UnknownFile
from dms.domain.places import Root
from sluice.contracts.data.datasets import File, FilePage
from sluice.servicekit.database import Database


async def list_files(
    database: Database, uid: UUID, *, after: str | None, limit: int, released: bool = False
) -> FilePage:
    """Return a page of files in order of number and name, with the URL of their latest replica.

    A deleted file has the URL of its last replica. ``released`` includes released files.

    Raises:
        UnknownDataset: The data set does not exist.
        InvalidCursor: The cursor is malformed.
    """
    place = read_place(after)
    async with database.connection() as connection:
        if await find_dataset(connection, uid) is None:
            raise UnknownDataset(uid)
        rows = await select_files(connection, uid, place, limit=limit, released=released)
        roots = await list_roots(connection)
    files = [_file(uid, row, roots) for row in rows]
    return FilePage.model_construct(
        files=files,
        after=write_place(files[-1].seq, files[-1].name) if len(files) == limit else None,
    )


async def read_file(database: Database, uid: UUID, file_id: int) -> File:
    """Return a file of a data set.

    Raises:
        UnknownDataset: The data set does not exist.
        UnknownFile: The data set does not have the file.
        FileDeleted: The file is released.
    """
    async with database.connection() as connection:
        if await find_dataset(connection, uid) is None:
            raise UnknownDataset(uid)
        row = await find_file(connection, uid, file_id)
        roots = await list_roots(connection)
    if row is None:
        raise UnknownFile(uid, file_id)
    if row.released:
        raise FileDeleted(uid, row.name)
    return _file(uid, row, roots)


def _file(uid: UUID, row: ListedFile, roots: Mapping[UUID, Root]) -> File:
    # The catalogue was checked when it was written. Checking 10 000 files again would block other
    # requests.
    return File.model_construct(
        id=row.id,
        dataset_uid=uid,
        seq=row.seq,
        name=row.name,
        size=row.size,
        checksum=f"sha256:{row.checksum.hex()}",
        url=roots[row.storage_id].build_url(row.path),
        meta=row.meta,
        origin=row.origin,
        released=row.released,
    )
