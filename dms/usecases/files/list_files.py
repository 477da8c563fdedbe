"""List the files of a data set page by page."""

from uuid import UUID

from dms.db.datasets import find_dataset
from dms.db.files import select_files
from dms.db.storages import list_roots
from dms.domain.cursor import parse_place, write_place
from dms.domain.errors import UnknownDataset
from dms.usecases.files.listed_file import build_file
from sluice.contracts.data.datasets import FilePage
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
    place = parse_place(after)
    async with database.connection() as connection:
        if await find_dataset(connection, uid) is None:
            raise UnknownDataset(uid)
        rows = await select_files(connection, uid, place, limit=limit, released=released)
        roots = await list_roots(connection)
    files = [build_file(uid, row, roots) for row in rows]
    return FilePage.model_construct(
        files=files,
        after=write_place(files[-1].seq, files[-1].name) if len(files) == limit else None,
    )
