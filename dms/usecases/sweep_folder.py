"""Looking through a data set's folder for files that attempts left which did not win."""

from collections.abc import Sequence

import structlog

from dms.db.claims import DatasetClaim, hold
from dms.db.replicas import (
    clear_late_files,
    finish_sweep,
    folder_shared,
    names_of_files,
    registered_paths,
)
from dms.db.storages import all_roots
from dms.domain.places import StoragePlace, storage_place
from dms.usecases.context import DmsContext
from dms.usecases.remove_copies import remove_copies
from sluice.contracts.naming import written_by_attempt
from sluice.contracts.states import DatasetState, DatasetType
from sluice.storage import Entry, is_temporary
from sluice.visible_text import quoted

log = structlog.get_logger(__name__)

#: Files looked up at a time.
PAGE = 1_000
#: States in which a folder is looked through by itself; while uploading and deleting, those who do
#: it look.
SWEPT = [DatasetState.CLOSED, DatasetState.UPLOADED, DatasetState.DELETED]


async def sweep_dataset(context: DmsContext, claim: DatasetClaim) -> None:
    """Precondition: a data set in one of ``SWEPT``, in hand. Effect: unregistered files of attempts
    are gone from its folders; of a deleted one, files registered too late and the folders too.
    Messages: none. Raises ``ClaimLost``, ``StorageError``.
    """
    deleted = claim.state is DatasetState.DELETED
    if deleted:
        async with context.database.connection() as connection:
            await clear_late_files(connection, claim)
        await remove_copies(context, claim)
    await sweep_folders(context, claim, claim.folders, remove=deleted)
    async with context.database.connection() as connection:
        await finish_sweep(connection, claim, sweep_again=context.sweep_again_seconds)


async def sweep_folders(
    context: DmsContext, claim: DatasetClaim, urls: Sequence[str], *, remove: bool
) -> None:
    """``remove``: the folders too, where nothing is left in them. Folders on read-only storages,
    those which are a storage's own or another data set's too, and files in those of inputs, are
    left alone.

    Raises ``ClaimLost``; ``OutsideStorages`` before anything is touched; ``StorageError``.
    """
    async with context.database.connection() as connection:
        roots = list((await all_roots(connection)).values())
        places = [
            storage_place(url, roots, subject=f"data set {quoted(claim.name)}") for url in urls
        ]
        shared = {url for url in urls if await folder_shared(connection, claim.uid, url)}
    for place in places:
        if not place.path or place.root.read_only or place.url in shared:
            continue
        if claim.request["type"] != DatasetType.INPUT:
            await _sweep(context, claim, place)
        elif remove:
            await _remove_pieces(context, place)
        if remove:
            await context.files.remove_folder(place.root, place.url, spared=context.watch.read_only)


async def _remove_pieces(context: DmsContext, place: StoragePlace) -> None:
    """Remove what was received, or copied, of files that were never complete."""
    found = await context.files.files_in(place.root, place.url)
    pieces = [entry.url for entry in found if is_temporary(entry.name)]
    outcomes = await context.files.remove(place.root, pieces, spared=context.watch.read_only)
    for error in outcomes:
        if error is not None:
            raise error


async def _sweep(context: DmsContext, claim: DatasetClaim, place: StoragePlace) -> None:
    found = await context.files.files_in(place.root, place.url)
    # Copies made for an upload bear the files' own names, and may have been made without being
    # noted.
    copies = place.url == claim.upload_url and claim.state in {
        DatasetState.DELETING,
        DatasetState.DELETED,
    }
    suspects = [entry for entry in found if copies or _is_left(entry)]
    for start in range(0, len(suspects), PAGE):
        await _remove_unregistered(context, claim, place, suspects[start : start + PAGE])


def _is_left(entry: Entry) -> bool:
    return is_temporary(entry.name) or written_by_attempt(entry.name)


async def _remove_unregistered(
    context: DmsContext, claim: DatasetClaim, place: StoragePlace, suspects: Sequence[Entry]
) -> None:
    paths = [f"{place.path}/{entry.name}" for entry in suspects]
    async with context.database.transaction() as transaction:
        await hold(transaction.connection, claim)
        registered = await registered_paths(transaction.connection, place.root.id, paths)
        own = await names_of_files(
            transaction.connection, claim.uid, [entry.name for entry in suspects]
        )
    unregistered = [
        entry for path, entry in zip(paths, suspects, strict=True) if path not in registered
    ]
    leftovers = [entry.url for entry in unregistered if _is_left(entry) or entry.name in own]
    if not leftovers:
        return
    outcomes = await context.files.remove(place.root, leftovers, spared=context.watch.read_only)
    log.info("dms.swept", folder=place.url, removed=sum(outcome is None for outcome in outcomes))
    for error in outcomes:
        if error is not None:
            raise error
