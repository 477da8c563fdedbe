"""One chain with everything a person asks about it."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.chains import ChainDataset
from sluice.contracts.datasets import Dataset
from sluice.contracts.problems import ServiceError
from sluice.servicekit.database import Database
from wfms.operator.domain.flow import Drawing, draw
from wfms.operator.domain.progress import ChainProgress, StepProgress
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.read_chains import read_progress
from wfms.operator.usecases.read_template import read_template_by_id


@dataclass(frozen=True, slots=True)
class KnownDataset:
    """``dataset`` None: the DMS does not know it or does not answer."""

    entry: ChainDataset
    dataset: Dataset | None


@dataclass(frozen=True, slots=True)
class ChainDetail:
    """``template`` None: it was never stored here."""

    progress: ChainProgress
    template: StoredTemplate | None
    datasets: list[KnownDataset]

    @property
    def drawing(self) -> Drawing | None:
        return None if self.template is None else draw(self.template.plan)

    def step(self, name: str) -> StepProgress | None:
        return next((progress for progress in self.progress.steps if progress.step.name == name), None)


async def read_chain(database: Database, chains: ChainsClient, dms: DmsClient, wms: WmsClient, *, uid: UUID) -> ChainDetail:
    """Precondition: none. Effect: none. Raises ``NotFound`` and ``NotAvailable`` of the chain service; what the DMS or the WMS
    does not say is left out."""
    chain = await chains.chain(uid)
    progress, template, datasets = await asyncio.gather(
        read_progress(wms, [chain]),
        read_template_by_id(database, chain.template_id),
        asyncio.gather(*(_known(dms, entry) for entry in chain.datasets)),
    )
    return ChainDetail(progress[0], template, datasets)


async def _known(dms: DmsClient, entry: ChainDataset) -> KnownDataset:
    try:
        return KnownDataset(entry, await dms.dataset(entry.uid))
    except ServiceError:
        return KnownDataset(entry, None)
