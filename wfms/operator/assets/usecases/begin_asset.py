"""Begin an asset version: determine which of its files the client must send."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Conflict, Forbidden, NotFound
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.asset_refs import MARK, NAME_PREFIX, file_name_of
from sluice.contracts.data.assets import (
    AssetDraft,
    AssetFile,
    AssetVersion,
    NewAsset,
    NewAssetFile,
    compute_digest,
)
from sluice.contracts.data.datasets import Dataset, NewDataset, NewFile, Storage
from wfms.operator.assets.db import assets
from wfms.operator.assets.db.assets import Draft
from wfms.operator.assets.domain.errors import (
    ConcurrentAssetChange,
    NoSpaceForAsset,
    NoStorageForAssets,
)
from wfms.operator.assets.domain.stored_files import list_differences
from wfms.operator.assets.usecases.missing_files import list_missing_files
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import take_or_require_name

log = structlog.get_logger(__name__)

#: How many names are tried that follow from the content, before one that nobody can guess.
TRIES = 20


async def begin_asset(context: OperatorContext, name: str, new: NewAsset) -> AssetDraft:
    """Begin a version of an asset and return the draft with the files that are missing.

    The draft gets an open data set. Files that another version already has are registered in it.
    If an existing version has exactly these files, that version is returned and nothing is created.
    Without a check, the check of the newest version is kept. A repeated call resumes the upload.

    Raises:
        NoStorageForAssets: No writable storage may take assets.
        NoSpaceForAsset: No such storage has enough free space.
        ConcurrentAssetChange: Another request changed the asset at the same time.
        NotAvailable: The DMS does not answer.
        NameOwnedByOthers: The name belongs to somebody else.
    """
    files = sorted(new.files, key=lambda file: file.path)
    digest = _compute_digest(files)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await assets.lock_asset(connection, name)
        versions = await assets.list_versions(connection, name)
        await take_or_require_name(
            connection, NamedKind.ASSET, name, new=not versions, group=new.group
        )
        if digest and (existing := await assets.find_version_by_digest(connection, name, digest)):
            return AssetDraft(version=existing)
        removed = await assets.count_removed_versions(connection, name, digest) if digest else 0
    dataset = await _open_dataset(context, name, files, digest=digest, removed_count=removed)
    available_versions = [each for each in versions if not each.removed_at]
    check = new.check or (available_versions[0].check if available_versions else None)
    draft = Draft(dataset.uid, name, files, new.note, check)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        if not await assets.store_draft(connection, draft):
            raise ConcurrentAssetChange(name)
    if digest:
        await _register_known_files(context.dms, draft, available_versions)
    missing = await list_missing_files(context.dms, draft)
    log.info("asset.begun", asset=name, dataset=str(dataset.uid), missing=len(missing))
    return AssetDraft(uid=dataset.uid, missing=missing)


def _compute_digest(files: Sequence[NewAssetFile]) -> str:
    """Return the digest of the files, or an empty string if a checksum is not known yet."""
    files_with_checksum = [
        AssetFile(path=file.path, size=file.size, checksum=file.checksum)
        for file in files
        if file.checksum is not None
    ]
    return compute_digest(files_with_checksum) if len(files_with_checksum) == len(files) else ""


async def _open_dataset(
    context: OperatorContext,
    name: str,
    files: Sequence[NewAssetFile],
    *,
    digest: str,
    removed_count: int,
) -> Dataset:
    """Return the open data set for the files, and register it if it does not exist.

    Its name is derived from its content, so equal uploads, repeated or concurrent, share it. Names
    of data sets that cannot be adopted are skipped: people may have registered them before the
    names were reserved.
    """
    storage = await _choose_storage(context, sum(file.size for file in files))
    numbers = range(removed_count, removed_count + TRIES) if digest else ()
    for number in numbers:
        new = _describe_dataset(storage, name, f"{digest[:24]}.{number}")
        dataset = await _find_or_register(context.dms, new)
        if dataset is not None and await _may_adopt(context.dms, dataset, name, files):
            return dataset
        log.info("asset.name_taken", asset=name, dataset=new.name)
    return await context.dms.register_asset_dataset(_describe_dataset(storage, name, uuid4().hex))


def _describe_dataset(storage: Storage, name: str, ending: str) -> NewDataset:
    label = f"{NAME_PREFIX}{name}.{ending}"
    return NewDataset(
        name=label,
        meta={MARK: name},
        on_demand=True,
        url=f"{storage.url}/{label}",
        group=EVERYONE,
    )


async def _find_or_register(dms: DmsClient, new: NewDataset) -> Dataset | None:
    """Return the data set with the name, or None if others have the name or the folder."""
    try:
        return await dms.register_asset_dataset(new)
    except Forbidden:  # another data set has the folder
        return None
    except Conflict as conflict:  # the data set may exist on another storage
        if "dataset" not in conflict.fields:
            return None
        try:
            return await dms.get_dataset(UUID(str(conflict.fields["dataset"])))
        except NotFound:  # it is another group's
            return None


async def _may_adopt(
    dms: DmsClient, dataset: Dataset, name: str, files: Sequence[NewAssetFile]
) -> bool:
    """Return whether this service has registered the data set for such a draft.

    The mark is the proof, because the DMS lets no person set it.
    """
    if (
        dataset.state is not DatasetState.OPEN
        or dataset.meta != {MARK: name}
        or dataset.type is not DatasetType.INPUT
        or dataset.group != EVERYONE
    ):
        return False
    return not list_differences(files, (await dms.list_files(dataset.uid)).files)


async def _choose_storage(context: OperatorContext, size: int) -> Storage:
    """Return the storage for the files: the configured one, or that with the most free space.

    The DMS returns storages sorted by free space.
    """
    configured = context.asset_storage
    storages = [
        storage
        for storage in await context.dms.list_storages(type=StorageType.INPUT)
        if not storage.read_only and (not configured or storage.name == configured)
    ]
    if not storages:
        raise NoStorageForAssets(configured)
    for storage in storages:
        if storage.unused is None or storage.unused >= max(size, 1):
            return storage
    raise NoSpaceForAsset(size, [storage.name for storage in storages])


async def _register_known_files(
    dms: DmsClient, draft: Draft, versions: Sequence[AssetVersion]
) -> None:
    """Register the files that earlier versions of the asset already have.

    The client need not send them: the catalogue has each file once and keeps it as long as a
    version uses it. The client sends the files that cannot be registered.
    """
    numbers = {file.checksum: number for number, file in enumerate(draft.files)}
    for version in versions:
        if not any(file.checksum in numbers for file in version.files):
            continue
        for file in (await dms.list_files(version.dataset_uid)).files:
            number = numbers.get(file.checksum)
            if number is None or draft.files[number].size != file.size:
                continue
            del numbers[file.checksum]
            new_file = NewFile(
                seq=number,
                name=file_name_of(draft.files[number].path),
                size=file.size,
                checksum=file.checksum,
                url=file.url,
                meta={MARK: draft.name},
            )
            try:
                await dms.register_asset_files(draft.uid, files=[new_file])
            except Conflict as conflict:  # the file was just deleted, or just registered
                log.info("asset.not_taken", file=file.name, reason=conflict.detail)
