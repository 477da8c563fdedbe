"""Delete the files of removed asset versions and of abandoned drafts."""

from datetime import timedelta

from wfms.operator.assets.db import assets
from wfms.operator.assets.usecases.delete_abandoned_draft import delete_abandoned_draft
from wfms.operator.assets.usecases.version_deletion import delete_version_files
from wfms.operator.context import OperatorContext

#: Versions and drafts that one call of the loop processes.
BATCH = 50
#: The time after which a draft that is not continued is abandoned.
PATIENCE = timedelta(hours=24)


async def delete_removed_assets(context: OperatorContext) -> bool:
    """Delete the files of removed versions that chains no longer need, and of abandoned drafts.

    Returns:
        Whether there may be more.
    """
    async with context.database.connection() as connection:
        versions = await assets.list_versions_to_delete(connection, limit=BATCH)
        drafts = await assets.abandon_stale_drafts(connection, after=PATIENCE, limit=BATCH)
    deleted = [await delete_version_files(context, version) for version in versions]
    for uid in drafts:
        await delete_abandoned_draft(context, uid)
    return len(versions) == BATCH and all(deleted)
