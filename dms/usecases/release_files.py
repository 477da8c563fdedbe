"""Files that go before their data set does: those of a data set between two steps, when all who
read it are done with them. Here they leave the lists; a loop removes their copies.
"""

from collections.abc import Sequence
from uuid import UUID

from dms.db.datasets import lock_dataset
from dms.db.releases import forget_reads, note_reads, read_by_all, release, set_read_ahead
from dms.domain.errors import UnknownDataset
from sluice.contracts.messages import ReleaseFiles
from sluice.contracts.problems import Unprocessable
from sluice.contracts.states import DatasetState, DatasetType
from sluice.servicekit.database import Connection, Transaction
from sluice.servicekit.logging import log_ids
from sluice.visible_text import quoted


class NotInBetween(Unprocessable):
    """Of what comes from outside, or is kept, nothing goes but on request (invariant 4)."""

    def __init__(self, uid: UUID, name: str, type: DatasetType) -> None:
        super().__init__(
            f"data set {quoted(name)} is of type {type}: only what lies between steps gives up"
            " its files one by one",
            dataset=uid,
        )


async def apply_release(transaction: Transaction, message: ReleaseFiles) -> None:
    """``dms.releases``, in the message's transaction. Effect: files that as many tasks are done
    with as read them are released: on their way out, and in no list any more. Their rows stay, so
    that nothing brings them back: numbers of files that are not registered yet are kept, and those
    are released when they are registered. Nothing where the data set is being deleted, or gone.

    Raises ``UnknownDataset`` (the message is tried again: its registration may be under way),
    ``NotInBetween``.
    """
    with log_ids(dataset=message.dataset_uid, task=message.reader):
        connection, uid = transaction.connection, message.dataset_uid
        row = await lock_dataset(connection, uid)
        if row is None:
            raise UnknownDataset(uid)
        dataset = row.dataset
        if dataset.state in {DatasetState.DELETING, DatasetState.DELETED}:
            return
        if dataset.type is not DatasetType.INTERMEDIATE or row.to_upload:
            raise NotInBetween(uid, dataset.name, dataset.type)
        if message.readers == 1:
            unknown = await release(connection, uid, message.seqs)
            if unknown:
                await note_reads(connection, message.model_copy(update={"seqs": unknown}))
        else:
            await note_reads(connection, message)
            done = await read_by_all(connection, uid, message.seqs)
            unknown = await _release(connection, uid, done)
        if unknown:
            await set_read_ahead(connection, uid)


async def release_registered(connection: Connection, uid: UUID, seqs: Sequence[int]) -> None:
    """Precondition: the data set's row is locked, and files with these numbers were just
    registered. Effect: those that all are done with already are released. Messages: none.
    """
    await _release(connection, uid, await read_by_all(connection, uid, seqs))


async def _release(connection: Connection, uid: UUID, seqs: Sequence[int]) -> list[int]:
    """The numbers that no file has yet."""
    if not seqs:
        return []
    unknown = await release(connection, uid, seqs)
    await forget_reads(connection, uid, sorted(set(seqs) - set(unknown)))
    return unknown
