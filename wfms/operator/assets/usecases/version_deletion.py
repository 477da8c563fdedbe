"""The deletion of the files of an asset version."""

import structlog

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.data.assets import AssetVersion
from wfms.operator.assets.db import assets
from wfms.operator.context import OperatorContext

log = structlog.get_logger(__name__)


async def delete_version_files(context: OperatorContext, version: AssetVersion) -> bool:
    """Delete the files of a version, and return False if chains need them or on a transient error.

    The chain service decides, because it creates no chain on a data set that it has released.
    """
    try:
        await context.chains.delete_asset(version.dataset_uid)
    except Conflict as conflict:
        log.info("asset.kept", asset=str(version.ref), reason=conflict.detail)
        return False
    except NotAvailable as error:  # the loop tries again
        log.warning("asset.not_deleted", asset=str(version.ref), reason=error.detail)
        return False
    except NotFound:  # the data set is already gone
        pass
    async with context.database.connection() as connection:
        await assets.mark_deleted(connection, version.dataset_uid)
    return True
