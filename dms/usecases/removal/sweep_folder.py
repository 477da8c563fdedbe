"""Sweep the folder of a data set: remove files of attempts that did not succeed."""

from collections.abc import Sequence

import structlog

from dms.db.claims import DatasetClaim, extend_claim
from dms.db.replicas import (
    clear_late_files,
    finish_sweep,
    is_folder_shared,
    list_file_names,
    list_registered_paths,
)
from dms.db.storages import list_roots
from dms.domain.places import StoragePlace, storage_place
from dms.usecases.context import DmsContext
from dms.usecases.removal.remove_copies import remove_copies
from sluice.contracts.common.naming import written_by_attempt
from sluice.contracts.common.states import DatasetState, DatasetType
from sluice.storage import Entry, is_temporary
from sluice.text.visible_text import quoted

log = structlog.get_logger(__name__)

#: Files looked up at a time.
PAGE = 1_000
#: States in which a loop sweeps a folder. Uploads and deletions sweep it themselves.
SWEPT = [DatasetState.CLOSED, DatasetState.UPLOADED, DatasetState.DELETED]


async def sweep_dataset(context: DmsContext, claim: DatasetClaim) -> None:
    """Sweep the folders of a claimed data set in one of the states ``SWEPT``.

    Unregistered files of attempts are removed. For a deleted data set, files that were registered
    too late and the folders are removed, too.

    Raises:
        ClaimLost: The claim ended.
        StorageError: Some files could not be removed.
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
    """Remove unregistered files from folders of a data set.

    ``remove`` also removes folders that are empty then. Folders on read-only storages, the folder
    of a storage itself, and folders of other data sets stay untouched. In folders of inputs, files
    stay.

    Raises:
        ClaimLost: The claim ended.
        OutsideStorages: A folder is outside the storages; nothing was removed.
        StorageError: Some files could not be removed.
    """
    async with context.database.connection() as connection:
        roots = list((await list_roots(connection)).values())
        places = [
            storage_place(url, roots, subject=f"data set {quoted(claim.name)}") for url in urls
        ]
        shared = {url for url in urls if await is_folder_shared(connection, claim.uid, url)}
    for place in places:
        if not place.path or place.root.read_only or place.url in shared:
            continue
        if claim.request["type"] != DatasetType.INPUT:
            await _sweep(context, claim, place)
        elif remove:
            await _remove_pieces(context, place)
        if remove:
            await context.files.remove_folder(
                place.root, place.url, spared_folders=context.storage_monitor.read_only
            )


async def _remove_pieces(context: DmsContext, place: StoragePlace) -> None:
    """Remove pieces and temporary copies of files that never became complete."""
    entries = await context.files.files_in(place.root, place.url)
    pieces = [entry.url for entry in entries if is_temporary(entry.name)]
    outcomes = await context.files.remove(
        place.root, pieces, spared_folders=context.storage_monitor.read_only
    )
    for error in outcomes:
        if error is not None:
            raise error


async def _sweep(context: DmsContext, claim: DatasetClaim, place: StoragePlace) -> None:
    entries = await context.files.files_in(place.root, place.url)
    # Copies of an upload have the names of the files, and may not have been recorded.
    copies = place.url == claim.upload_url and claim.state in {
        DatasetState.DELETING,
        DatasetState.DELETED,
    }
    suspects = [entry for entry in entries if copies or _is_leftover(entry)]
    for start in range(0, len(suspects), PAGE):
        await _remove_unregistered(context, claim, place, suspects[start : start + PAGE])


def _is_leftover(entry: Entry) -> bool:
    return is_temporary(entry.name) or written_by_attempt(entry.name)


async def _remove_unregistered(
    context: DmsContext, claim: DatasetClaim, place: StoragePlace, suspects: Sequence[Entry]
) -> None:
    paths = [f"{place.path}/{entry.name}" for entry in suspects]
    async with context.database.transaction() as transaction:
        await extend_claim(transaction.connection, claim)
        registered = await list_registered_paths(transaction.connection, place.root.id, paths)
        own = await list_file_names(
            transaction.connection, claim.uid, [entry.name for entry in suspects]
        )
    unregistered = [
        entry for path, entry in zip(paths, suspects, strict=True) if path not in registered
    ]
    leftovers = [entry.url for entry in unregistered if _is_leftover(entry) or entry.name in own]
    if not leftovers:
        return
    outcomes = await context.files.remove(
        place.root, leftovers, spared_folders=context.storage_monitor.read_only
    )
    log.info("dms.swept", folder=place.url, removed=sum(outcome is None for outcome in outcomes))
    for error in outcomes:
        if error is not None:
            raise error
