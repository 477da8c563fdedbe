"""Release newly registered files that no task needs."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.releases import list_unneeded_numbers
from dms.usecases.removal.file_release import release_known_files
from sluice.servicekit.database import Connection


async def release_registered(connection: Connection, uid: UUID, seqs: Sequence[int]) -> None:
    """Release those newly registered files that no task needs; the data set is locked."""
    await release_known_files(connection, uid, await list_unneeded_numbers(connection, uid, seqs))
