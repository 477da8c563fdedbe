"""Complete the upload of an asset version."""

from uuid import UUID

import structlog

from sluice.contracts.data.assets import (
    AssetFile,
    AssetVersion,
    StoredAsset,
    compute_digest,
)
from wfms.operator.assets.db import assets
from wfms.operator.assets.db.assets import Draft
from wfms.operator.assets.domain.errors import (
    AssetFilesDiffer,
    AssetFilesMissing,
    AssetUnknown,
    ConcurrentAssetChange,
)
from wfms.operator.assets.domain.stored_files import (
    list_differences,
)
from wfms.operator.assets.usecases.delete_abandoned_draft import delete_abandoned_draft
from wfms.operator.assets.usecases.draft_files import find_draft_or_version
from wfms.operator.assets.usecases.missing_files import list_missing_files
from wfms.operator.context import OperatorContext

log = structlog.get_logger(__name__)


async def complete_asset(context: OperatorContext, name: str, uid: UUID) -> StoredAsset:
    """Turn a complete draft into the next version of the asset; idempotent.

    If another version has the same content, that version is returned and the draft is deleted.

    Raises:
        AssetDraftUnknown: There is no such draft.
        AssetFilesMissing: Files of the draft are missing.
        AssetFilesDiffer: A stored file is not as it was announced, or was not announced.
        ConcurrentAssetChange: The draft was given up at the same time.
        NotAvailable: Another service does not answer.
    """
    draft, stored = await find_draft_or_version(context, name, uid)
    if draft is None:
        assert stored is not None  # noqa: S101 - one of both
        return await _stored_asset(context, stored, new=False)
    if missing := await list_missing_files(context.dms, draft):
        raise AssetFilesMissing(name, [file.path for file in missing])
    files = await _list_asset_files(context, draft)
    await context.dms.close_asset_dataset(uid, files=len(files))
    version, new = await _store_version(context, draft, files)
    if not new and version.dataset_uid != uid:
        await delete_abandoned_draft(context, uid)
    log.info("asset.put", asset=name, version=version.version, new=new)
    return await _stored_asset(context, version, new=new)


async def _list_asset_files(context: OperatorContext, draft: Draft) -> list[AssetFile]:
    """Return the stored files of a draft, all of which were received.

    Raises:
        AssetFilesMissing: A file without an announced checksum was not completed.
        AssetFilesDiffer: The files are not those of the draft.
    """
    if unknown := [file.path for file in draft.files if file.checksum is None]:
        raise AssetFilesMissing(draft.name, unknown)
    if differences := list_differences(
        draft.files, (await context.dms.list_files(draft.uid)).files
    ):
        raise AssetFilesDiffer(draft.name, differences)
    return [AssetFile.model_validate(file.model_dump()) for file in draft.files]


async def _store_version(
    context: OperatorContext, draft: Draft, files: list[AssetFile]
) -> tuple[AssetVersion, bool]:
    """Return the version and whether it is new; equal concurrent uploads get one version."""
    digest = compute_digest(files)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await assets.lock_asset(connection, draft.name)
        existing = await assets.find_version_by_digest(connection, draft.name, digest)
        locked_draft = await assets.find_draft(connection, draft.uid, draft.name, lock=True)
        if existing is not None:
            if locked_draft is not None and existing.dataset_uid != draft.uid:
                await assets.abandon_draft(connection, draft.uid)
            return existing, False
        if locked_draft is None:
            raise ConcurrentAssetChange(draft.name)
        await assets.delete_draft(connection, draft.uid)
        return await assets.insert_version(connection, draft, digest=digest, files=files), True


async def _stored_asset(
    context: OperatorContext, version: AssetVersion, *, new: bool
) -> StoredAsset:
    async with context.database.connection() as connection:
        versions = await assets.list_versions(connection, version.name)
    newest_version = next((each for each in versions if each.removed_at is None), None)
    if newest_version is None:
        raise AssetUnknown(version.name)
    return StoredAsset(version=version, new=new, newest=newest_version.version)
