"""Begins a version of an asset: says which of its files are to be sent."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.asset_refs import MARK, file_name_of
from sluice.contracts.assets import (
    AssetDraft,
    AssetFile,
    AssetVersion,
    FileToSend,
    NewAsset,
    NewAssetFile,
    PieceAt,
    digest_of,
)
from sluice.contracts.datasets import Dataset, NewDataset, NewFile, Storage
from sluice.contracts.naming import file_key
from sluice.contracts.owners import EVERYONE
from sluice.contracts.problems import Conflict
from sluice.contracts.states import DatasetState, StorageType
from wfms.operator.db import assets
from wfms.operator.db.assets import Draft
from wfms.operator.db.name_owners import NamedKind
from wfms.operator.domain.errors import AssetMoved, NoRoomForAsset, NoStorageForAssets
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.name_owners import take_or_require_name

log = structlog.get_logger(__name__)

#: How often another name is tried for the data set, where the one before is being deleted.
TRIES = 20


async def begin_asset(context: OperatorContext, name: str, new: NewAsset) -> AssetDraft:
    """Precondition: none. Effect: an open data set for the files, and a draft that remembers them;
    files that a version of the asset has already are in it. Where a version that is given has just
    these files, nothing is made, and it is named. The check of the newest version stays, where no
    other is given. Beginning the same again goes on with what was
    sent before. Messages: none. Raises ``NoStorageForAssets``, ``NoRoomForAsset``, ``AssetMoved``,
    ``NotAvailable``, ``NameOfOthers``."""
    files = sorted(new.files, key=lambda file: file.path)
    digest = _digest(files)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await assets.lock_asset(connection, name)
        versions = await assets.versions_of(connection, name)
        await take_or_require_name(
            connection, NamedKind.ASSET, name, new=not versions, group=new.group
        )
        if digest and (known := await assets.version_with(connection, name, digest)):
            return AssetDraft(version=known)
        removed = await assets.times_removed(connection, name, digest) if digest else 0
    dataset = await _dataset(context, name, files, digest=digest, removed=removed)
    given = [each for each in versions if not each.removed_at]
    check = new.check or (given[0].check if given else None)
    draft = Draft(dataset.uid, name, files, new.note, check)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await assets.keep_draft(connection, draft):
            raise AssetMoved(name)
    if digest:
        await _take_known(context.dms, draft, given)
    missing = await missing_files(context.dms, draft)
    log.info("asset.begun", asset=name, dataset=str(dataset.uid), missing=len(missing))
    return AssetDraft(uid=dataset.uid, missing=missing)


async def missing_files(dms: DmsClient, draft: Draft) -> list[FileToSend]:
    """Files of the draft that are not complete in the DMS. Raises ``NotAvailable``."""
    there = {file.name for file in (await dms.files(draft.uid)).files}
    pieces = await dms.pieces(draft.uid) if len(there) < len(draft.files) else []
    return [
        FileToSend(number=number, path=file.path, received=_received(pieces, file.path))
        for number, file in enumerate(draft.files)
        if file_name_of(file.path) not in there
    ]


def _received(pieces: Sequence[PieceAt], path: str) -> int:
    key, end = file_key(file_name_of(path)), 0
    for piece in pieces:
        if piece.file == key and piece.offset == end:
            end += piece.size
    return end


def _digest(files: Sequence[NewAssetFile]) -> str:
    """Empty where what is in the files is not known yet."""
    known = [
        AssetFile(path=file.path, size=file.size, checksum=file.checksum)
        for file in files
        if file.checksum is not None
    ]
    return digest_of(known) if len(known) == len(files) else ""


async def _dataset(
    context: OperatorContext,
    name: str,
    files: Sequence[NewAssetFile],
    *,
    digest: str,
    removed: int,
) -> Dataset:
    """Its name follows from what is to be in it, so that who sends the same again, or at the same
    time, fills the same one."""
    storage = await _storage(context, sum(file.size for file in files))
    for number in range(removed, removed + TRIES):
        label = f"asset.{name}.{f'{digest[:24]}.{number}' if digest else uuid4().hex}"
        new = NewDataset(
            name=label,
            meta={MARK: name},
            on_demand=True,
            url=f"{storage.url}/{label}",
            group=EVERYONE,
        )
        try:
            dataset = await context.dms.register_dataset(new)
        except Conflict as conflict:  # begun on another storage
            if "dataset" not in conflict.fields:
                raise
            dataset = await context.dms.dataset(UUID(str(conflict.fields["dataset"])))
        if dataset.state is DatasetState.OPEN:
            return dataset
    raise AssetMoved(name)


async def _storage(context: OperatorContext, size: int) -> Storage:
    """Where the files go: the one that is set, else the input storage with the most room."""
    named = context.asset_storage
    found = [
        storage
        for storage in await context.dms.storages(StorageType.INPUT)
        if not storage.read_only and (not named or storage.name == named)
    ]
    if not found:
        raise NoStorageForAssets(named)
    for storage in found:
        if storage.room is None or storage.room >= max(size, 1):
            return storage
    raise NoRoomForAsset(size, [storage.name for storage in found])


async def _take_known(dms: DmsClient, draft: Draft, versions: Sequence[AssetVersion]) -> None:
    """Files that versions of the asset have already need not be sent: the catalogue has each once,
    and keeps it as long as one of them has it. What cannot be taken is sent."""
    wanted = {file.checksum: number for number, file in enumerate(draft.files)}
    for version in versions:
        if not any(file.checksum in wanted for file in version.files):
            continue
        for file in (await dms.files(version.dataset_uid)).files:
            number = wanted.pop(file.checksum, None)
            if number is None:
                continue
            again = NewFile(
                seq=number,
                name=file_name_of(draft.files[number].path),
                size=file.size,
                checksum=file.checksum,
                url=file.url,
                meta={MARK: draft.name},
            )
            try:
                await dms.register_files(draft.uid, [again])
            except Conflict as conflict:  # it has just been deleted, or come by itself
                log.info("asset.not_taken", file=file.name, reason=conflict.detail)
