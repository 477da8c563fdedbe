"""Ask the WMS to rank tasks higher that free space on input storages that fill up."""

from uuid import UUID

import structlog

from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.jobs.tasks import Boost, Boosts
from wfms.chains.db.reading import list_space_freeing_tasks
from wfms.chains.domain.watermark_reasons import describe_reason
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

#: Number of tasks that are ranked higher at the same time: those of the oldest chains.
MAX_RAISED_TASKS = 10_000
#: Sent when raising ranks is switched off, because the WMS does not accept 0.
_ANY = 1.0


async def raise_ranks_for_filling_storages(context: ChainsContext) -> None:
    """Rank running tasks higher while a storage that holds their chain's input is filling up.

    Only tasks of chains that delete their input in the end are ranked higher. The DMS says
    which storages are filling up. Several instances send the same request to the WMS.

    Raises:
        NotAvailable: The DMS or the WMS does not answer. Ranks stay as they are.
    """
    filling = await _list_filling_storages(context) if context.watermark_rank else []
    if not filling and context.watermark_state.nothing_raised:
        return
    boosts = await _make_boosts(context, filling) if filling else []
    answer = await context.wms.boost(Boosts(by=context.watermark_rank or _ANY, boosts=boosts))
    context.watermark_state.nothing_raised = not boosts
    if answer.raised or answer.lowered:
        names = [storage.name for storage in filling]
        log.info(
            "watermark.ranks_changed", storages=names, raised=answer.raised, lowered=answer.lowered
        )


async def _list_filling_storages(context: ChainsContext) -> list[Storage]:
    storages = await context.dms.list_storages(type=StorageType.INPUT, all=True)
    return [storage for storage in storages if storage.filling_since is not None]


async def _make_boosts(context: ChainsContext, filling_storages: list[Storage]) -> list[Boost]:
    async with context.database.connection() as connection:
        tasks = await list_space_freeing_tasks(connection, limit=MAX_RAISED_TASKS)
    reasons: dict[UUID, str] = {}
    for storage in filling_storages:
        datasets_on_storage = await context.dms.list_datasets_on(
            storage.name, list({dataset for _, dataset in tasks})
        )
        reasons = {uid: describe_reason(storage) for uid in datasets_on_storage} | reasons
    return [
        Boost(task_uid=task, reason=reasons[dataset])
        for task, dataset in tasks
        if dataset in reasons
    ]
