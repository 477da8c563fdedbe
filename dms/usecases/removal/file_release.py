"""Release of files of a data set whose row is locked."""

from collections.abc import Sequence
from uuid import UUID

from dms.db.releases import forget_reads, release
from sluice.servicekit.database import Connection


async def release_known_files(connection: Connection, uid: UUID, seqs: Sequence[int]) -> list[int]:
    """Release files, and return the numbers that no file has yet."""
    if not seqs:
        return []
    unknown = await release(connection, uid, seqs)
    await forget_reads(connection, uid, sorted(set(seqs) - set(unknown)))
    return unknown
