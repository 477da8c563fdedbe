"""The draft of an asset version, and its files."""

from uuid import UUID

from sluice.contracts.data.assets import (
    AssetFile,
    AssetVersion,
)
from wfms.operator.assets.db import assets
from wfms.operator.assets.db.assets import Draft
from wfms.operator.assets.domain.errors import (
    AssetDraftUnknown,
)
from wfms.operator.assets.domain.stored_files import (
    AnnouncedFile,
    is_equal,
)
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import require_name


async def find_draft_or_version(
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


async def get_draft_file(
    context: OperatorContext, name: str, uid: UUID, number: int
) -> AnnouncedFile:
    """Return the file of the draft, or of the version that was created from it.

    Raises:
        AssetDraftUnknown: There is no such draft or file.
    """
    draft, version = await find_draft_or_version(context, name, uid)
    files: list[AnnouncedFile] = []
    files += draft.files if draft is not None else []
    files += version.files if version is not None else []
    if number >= len(files):
        raise AssetDraftUnknown(name, uid)
    return files[number]


async def find_complete_file(
    context: OperatorContext, uid: UUID, draft_file: AnnouncedFile
) -> AssetFile | None:
    """Return the file if it is complete in the DMS."""
    for file in (await context.dms.list_files(uid)).files:
        if is_equal(draft_file, file):
            return AssetFile(path=draft_file.path, size=file.size, checksum=file.checksum)
    return None
