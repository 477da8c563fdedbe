"""Upload a data set."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from dms.db.claims import ClaimLost, DatasetClaim, extend_claim
from dms.db.replicas import (
    MissingFile,
    finish_upload,
    insert_replicas,
    list_missing_files,
    list_registered_paths,
    set_upload_place,
)
from dms.db.storages import add_usage, list_roots
from dms.domain.errors import NoStorage
from dms.domain.failures import ATTEMPTS_BEFORE_NOTICE
from dms.domain.places import Root, storage_place, upload_folder
from dms.usecases.context import DmsContext
from dms.usecases.removal.remove_replicas import remove_replicas
from dms.usecases.removal.sweep_folders import sweep_folders
from dms.usecases.storages.list_storages import list_storages
from dms.usecases.storages.list_storages_by_space import list_storages_by_space
from dms.usecases.uploads.find_lost_file import UploadImpossible, find_lost_file
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.messaging.messages import DATASET_CLOSED, DatasetClosed
from sluice.storage import StorageError
from sluice.text.visible_text import quoted

#: Files copied before the catalogue records them.
PAGE = 200


class NoReplica(StorageError):
    """The catalogue knows no replica of the file."""

    def __init__(self, url: str) -> None:
        super().__init__(url, "no copy of this file is left to upload")


class TargetInUse(StorageError):
    """A file of another data set is registered at the target of a copy."""

    def __init__(self, url: str) -> None:
        super().__init__(url, "a file of another data set is registered here: delete that data set")


@dataclass(frozen=True, slots=True)
class _Target:
    root: Root
    folder: str

    def copy_path(self, name: str) -> str:
        return f"{self.folder}/{name}"


async def upload_dataset(context: DmsContext, claim: DatasetClaim) -> None:
    """Upload a claimed data set to the output storage, and verify each file there.

    The other replicas and the old folder are then removed, and the data set becomes an output. The
    call may be interrupted anywhere and repeated: it keeps what was copied. Sends
    ``dms.dataset-closed`` with the state uploaded.

    Raises:
        ClaimLost: The claim ended.
        NoStorage: No output storage can take the data now.
        OutsideStorages: A folder is outside the storages.
        StorageError: A file could not be copied or removed.
        UploadImpossible: The upload failed repeatedly and cannot succeed.
    """
    try:
        await _upload(context, claim)
    except TargetInUse as error:
        if claim.failures + 1 < ATTEMPTS_BEFORE_NOTICE:
            raise
        raise UploadImpossible(error.url, error.reason) from error
    except (StorageError, NoStorage) as error:
        if (lost := await find_lost_file(context, claim, error)) is not None:
            raise lost from error
        raise


async def _upload(context: DmsContext, claim: DatasetClaim) -> None:
    target = await _target(context, claim)
    await _copy_files(context, claim, target)
    await remove_replicas(context, claim, keep=(target.root.id, target.folder + "/"))
    url = target.root.build_url(target.folder)
    await sweep_folders(context, claim, [url], remove=False)
    await sweep_folders(
        context, claim, [folder for folder in claim.folders if folder != url], remove=True
    )
    async with context.database.transaction() as transaction:
        await extend_claim(transaction.connection, claim)
        await finish_upload(transaction.connection, claim, sweep_again=context.sweep_again_seconds)
        event = DatasetClosed(uid=claim.uid, type=DatasetType.OUTPUT, state=DatasetState.UPLOADED)
        transaction.send(DATASET_CLOSED, event, subject=claim.uid, dataset=claim.uid)


async def _target(context: DmsContext, claim: DatasetClaim) -> _Target:
    """Return the place that was chosen before, or one on the output storage with the most space."""
    async with context.database.connection() as connection:
        roots = await list_roots(connection)
    if claim.upload_url is not None and claim.upload_storage_id is not None:
        root = roots[claim.upload_storage_id]
        return _Target(root, claim.upload_url[len(root.url) + 1 :])
    storage = await _storage_with_space(context, claim.bytes)
    root, folder = roots[storage.id], upload_folder(claim.name, claim.meta.get("output_name"))
    storage_place(root.build_url(folder), [root], subject=f"data set {quoted(claim.name)}")
    async with context.database.connection() as connection:
        if not await set_upload_place(
            connection, claim, storage_id=root.id, url=root.build_url(folder)
        ):
            raise ClaimLost(claim)
    return _Target(root, folder)


async def _storage_with_space(context: DmsContext, needed_bytes: int) -> Storage:
    """Return the output storage with the most space.

    Raises:
        NoStorage: No output storage has enough space.
    """
    monitor = context.storage_monitor
    best = await list_storages_by_space(
        context.database,
        StorageType.OUTPUT,
        free_now=monitor.free_now,
        rejection_reasons=monitor.rejection_reasons,
    )
    for storage, free in best:
        if not storage.read_only and free >= needed_bytes:
            return storage
    full = {
        storage.id: f"has space for {max(free, 0):.0f} of {needed_bytes} bytes"
        for storage, free in best
        if not storage.read_only
    }
    storages = await list_storages(context, StorageType.OUTPUT, everything=True)
    raise NoStorage(
        StorageType.OUTPUT,
        [
            f"{storage.name} {full.get(storage.id) or storage.rejection_reason}"
            for storage in storages
        ],
    )


async def _copy_files(context: DmsContext, claim: DatasetClaim, target: _Target) -> None:
    after = (-1, "")
    while True:
        async with context.database.connection() as connection:
            files = await list_missing_files(
                connection,
                claim.uid,
                after=after,
                target=(target.root.id, target.folder + "/"),
                limit=PAGE,
            )
            roots = await list_roots(connection)
            places = [target.copy_path(file.name) for file in files]
            paths_in_use = await list_registered_paths(connection, target.root.id, places)
        if not files:
            return
        if paths_in_use:  # a copy would replace the file of another data set
            raise TargetInUse(target.root.build_url(min(paths_in_use)))
        outcomes = await asyncio.gather(
            *(_copy(context, file, roots, target) for file in files), return_exceptions=True
        )
        await _record(
            context,
            claim,
            target,
            [file for file, error in zip(files, outcomes, strict=True) if error is None],
        )
        for error in outcomes:
            if error is not None:
                raise error
        after = files[-1].seq, files[-1].name


async def _copy(
    context: DmsContext, file: MissingFile, roots: Mapping[UUID, Root], target: _Target
) -> None:
    url = target.root.build_url(target.copy_path(file.name))
    if file.storage_id is None or file.path is None:
        raise NoReplica(url)
    source = roots[file.storage_id]
    checksum = f"sha256:{file.checksum.hex()}"
    await context.files.copy(
        (source, source.build_url(file.path)), (target.root, url), checksum=checksum, size=file.size
    )


async def _record(
    context: DmsContext, claim: DatasetClaim, target: _Target, files: Sequence[MissingFile]
) -> None:
    """Record the copies, if the claim still holds."""
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await extend_claim(connection, claim)
        copies = [(file.file_id, target.copy_path(file.name)) for file in files]
        new = await insert_replicas(connection, target.root.id, copies)
        await add_usage(
            connection, {target.root.id: sum(file.size for file in files if file.file_id in new)}
        )
        if in_use := [file for file in files if file.file_id not in new]:
            raise TargetInUse(target.root.build_url(target.copy_path(in_use[0].name)))
