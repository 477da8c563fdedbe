"""The upload of the files of an asset version."""

from uuid import UUID

import structlog

from sluice.contracts.common.problems import Conflict, ServiceError
from sluice.contracts.data.asset_refs import MARK, file_name_of
from sluice.contracts.data.assets import (
    AssetFile,
    AssetVersion,
    JoinPieces,
    StoredAsset,
    compute_digest,
)
from wfms.operator.assets.db import assets
from wfms.operator.assets.db.assets import Draft
from wfms.operator.assets.domain.errors import (
    AssetDraftUnknown,
    AssetFilesDiffer,
    AssetFilesMissing,
    AssetUnknown,
    ConcurrentAssetChange,
)
from wfms.operator.assets.domain.stored_files import (
    AnnouncedFile,
    is_equal,
    list_differences,
)
from wfms.operator.assets.usecases.begin_asset import missing_files
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import require_name

log = structlog.get_logger(__name__)


async def receive_piece(
    context: OperatorContext, name: str, uid: UUID, *, number: int, offset: int, data: bytes
) -> None:
    """Store a piece of a file of a draft.

    Raises:
        AssetDraftUnknown: There is no such draft or file.
        Conflict: The DMS rejects the piece.
        Unprocessable: The DMS rejects the piece.
        NotAvailable: The DMS does not answer.
    """
    file = await _find_file(context, name, uid, number)
    try:
        await context.dms.send_piece(uid, data, file=file_name_of(file.path), offset=offset)
    except Conflict:
        # Another client that sends the same files has already completed this one.
        if await _find_complete_file(context, uid, file) is None:
            raise
    async with context.database.connection() as connection:
        await assets.touch_draft(connection, uid)


async def complete_file(
    context: OperatorContext, name: str, uid: UUID, *, number: int
) -> AssetFile:
    """Verify a file whose pieces were all received, and add it to the draft; idempotent.

    Raises:
        AssetDraftUnknown: There is no such draft or file.
        Conflict: Pieces are missing.
        Unprocessable: The file differs from its announced size or checksum.
        NotAvailable: The DMS does not answer.
    """
    file = await _find_file(context, name, uid, number)
    stored = await _store_file(context, name, uid, number=number, file=file)
    if file.checksum is None:
        async with context.database.connection() as connection:
            await assets.note_checksum(connection, uid, number, stored.checksum)
    return stored


async def _store_file(
    context: OperatorContext, name: str, uid: UUID, *, number: int, file: AnnouncedFile
) -> AssetFile:
    pieces = JoinPieces(
        seq=number,
        name=file_name_of(file.path),
        size=file.size,
        checksum=file.checksum,
        meta={MARK: name},
    )
    try:
        joined = await context.dms.join_pieces(uid, pieces)
    except Conflict:
        if (complete := await _find_complete_file(context, uid, file)) is None:
            raise
        return complete
    return AssetFile(path=file.path, size=joined.size, checksum=joined.checksum)


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
    draft, stored = await _find_draft_or_version(context, name, uid)
    if draft is None:
        assert stored is not None  # noqa: S101 - one of both
        return await _stored_asset(context, stored, new=False)
    if missing := await missing_files(context.dms, draft):
        raise AssetFilesMissing(name, [file.path for file in missing])
    files = await _list_asset_files(context, draft)
    await context.dms.close_asset_dataset(uid, files=len(files))
    version, new = await _store_version(context, draft, files)
    if not new and version.dataset_uid != uid:
        await delete_abandoned_draft(context, uid)
    log.info("asset.put", asset=name, version=version.version, new=new)
    return await _stored_asset(context, version, new=new)


async def _find_draft_or_version(
    context: OperatorContext, name: str, uid: UUID
) -> tuple[Draft | None, AssetVersion | None]:
    """Return the draft, or the version that was created from it.

    Raises:
        AssetDraftUnknown: There is neither.
        NameOwnedByOthers: The principal may not change the asset.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await require_name(connection, NamedKind.ASSET, name)
        draft = await assets.find_draft(connection, uid, name)
        version = None if draft else await assets.find_version_by_dataset(connection, uid)
    if draft is None and (version is None or version.name != name or version.removed_at):
        raise AssetDraftUnknown(name, uid)
    return draft, version


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


async def delete_abandoned_draft(context: OperatorContext, uid: UUID) -> None:
    """Delete the data set of an abandoned draft; the background loop repeats it on failure."""
    try:
        await context.chains.delete_asset(uid)
    except ServiceError as error:
        log.warning("asset.draft_stays", dataset=str(uid), reason=error.detail)
        return
    async with context.database.connection() as connection:
        await assets.delete_draft(connection, uid)


async def _find_file(context: OperatorContext, name: str, uid: UUID, number: int) -> AnnouncedFile:
    """Return the file of the draft, or of the version that was created from it.

    Raises:
        AssetDraftUnknown: There is no such draft or file.
    """
    draft, version = await _find_draft_or_version(context, name, uid)
    files: list[AnnouncedFile] = []
    files += draft.files if draft is not None else []
    files += version.files if version is not None else []
    if number >= len(files):
        raise AssetDraftUnknown(name, uid)
    return files[number]


async def _find_complete_file(
    context: OperatorContext, uid: UUID, draft_file: AnnouncedFile
) -> AssetFile | None:
    """Return the file if it is complete in the DMS."""
    for file in (await context.dms.list_files(uid)).files:
        if is_equal(draft_file, file):
            return AssetFile(path=draft_file.path, size=file.size, checksum=file.checksum)
    return None


async def _stored_asset(
    context: OperatorContext, version: AssetVersion, *, new: bool
) -> StoredAsset:
    async with context.database.connection() as connection:
        versions = await assets.list_versions(connection, version.name)
    newest_version = next((each for each in versions if each.removed_at is None), None)
    if newest_version is None:
        raise AssetUnknown(version.name)
    return StoredAsset(version=version, new=new, newest=newest_version.version)
