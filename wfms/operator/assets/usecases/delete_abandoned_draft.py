"""Delete an abandoned draft of an asset version."""

from uuid import UUID

import structlog

from sluice.contracts.common.problems import ServiceError
from wfms.operator.assets.db import assets
from wfms.operator.context import OperatorContext

log = structlog.get_logger(__name__)


async def delete_abandoned_draft(context: OperatorContext, uid: UUID) -> None:
    """Delete the data set of an abandoned draft; the background loop repeats it on failure."""
    try:
        await context.chains.delete_asset(uid)
    except ServiceError as error:
        log.warning("asset.draft_stays", dataset=str(uid), reason=error.detail)
        return
    async with context.database.connection() as connection:
        await assets.delete_draft(connection, uid)
