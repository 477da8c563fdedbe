"""Ask the WMS to rank tasks higher that free space on input storages that fill up."""

from uuid import UUID

import structlog

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import Storage
from sluice.contracts.jobs.tasks import Boost, Boosts
from wfms.chains.db.reading import relieving_tasks
from wfms.chains.domain.water_mark_reasons import reason_of
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

#: Number of tasks that are ranked higher at the same time: those of the oldest chains.
MOST = 10_000
#: Sent when raising ranks is switched off, because the WMS does not accept 0.
_ANY = 1.0


class RelieveStorages:
    """The loop function that raises ranks while a storage fills up, and lowers them afterwards.

    Several instances send the same request to the WMS.
    """

    def __init__(self, context: ChainsContext) -> None:
        self._database = context.database
        self._dms = context.dms
        self._wms = context.wms
        self._by = context.relief_rank
        #: False at first, because an earlier instance may have raised ranks.
        self._nothing_raised = False

    async def __call__(self) -> bool:
        """Rank running tasks higher while a storage that holds their chain's input is filling up.

        Only tasks of chains that delete their input in the end are ranked higher. The DMS says
        which storages are filling up. Always returns False: there is nothing left to do now.

        Raises:
            NotAvailable: The DMS or the WMS does not answer. Ranks stay as they are.
        """
        filling = await self._filling() if self._by else []
        if not filling and self._nothing_raised:
            return False
        boosts = await self._boosts(filling) if filling else []
        try:
            answer = await self._wms.boost(Boosts(by=self._by or _ANY, boosts=boosts))
        except NotFound:
            log.info("relief.not_known", reason="the WMS is of the release before")
            return False
        self._nothing_raised = not boosts
        if answer.raised or answer.lowered:
            names = [storage.name for storage in filling]
            log.info(
                "relief.ranks_changed", storages=names, raised=answer.raised, lowered=answer.lowered
            )
        return False

    async def _filling(self) -> list[Storage]:
        found = await self._dms.storages(StorageType.INPUT, everything=True)
        return [storage for storage in found if storage.filling_since is not None]

    async def _boosts(self, filling: list[Storage]) -> list[Boost]:
        async with self._database.connection() as connection:
            tasks = await relieving_tasks(connection, limit=MOST)
        reasons: dict[UUID, str] = {}
        for storage in filling:
            there = await self._dms.on_storage(
                storage.name, list({dataset for _, dataset in tasks})
            )
            reasons = {uid: reason_of(storage) for uid in there} | reasons
        return [
            Boost(task_uid=task, reason=reasons[dataset])
            for task, dataset in tasks
            if dataset in reasons
        ]
