"""Asks the WMS to rank tasks higher that make room on input storages which fill faster than they
are worked off."""

from uuid import UUID

import structlog

from sluice.contracts.datasets import Storage
from sluice.contracts.problems import NotFound
from sluice.contracts.states import StorageType
from sluice.contracts.tasks import Boost, Boosts
from wfms.chains.db.reading import relieving_tasks
from wfms.chains.domain.relief import reason_of
from wfms.chains.usecases.context import ChainsContext

log = structlog.get_logger(__name__)

#: Tasks that are ranked higher at the same time: those of the oldest chains.
MOST = 10_000
#: How much higher no task at all is to be ranked: the WMS takes no 0.
_ANY = 1.0


class RelieveStorages:
    """Where tasks are not to be ranked higher (any more), what was raised before is so no more.
    Several instances say the same to the WMS."""

    def __init__(self, context: ChainsContext) -> None:
        self._database = context.database
        self._dms = context.dms
        self._wms = context.wms
        self._by = context.relief_rank
        #: What an instance before this one has said is not known.
        self._nothing_raised = False

    async def __call__(self) -> bool:
        """Effect: while a storage is filling, by the DMS, the WMS ranks those tasks under way
        higher whose chains have their input there and delete it in the end; afterwards it does not.
        Messages: none. Raises ``NotAvailable`` (DMS, WMS; ranks stay as they are then). False: done
        for now."""
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
