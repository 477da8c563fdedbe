"""Reads one chain with everything that its page shows."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains import Chain, ChainDataset, ChainOutput
from sluice.contracts.datasets import Dataset, File
from sluice.contracts.labels import standing
from sluice.contracts.partial import PartialOutput
from sluice.contracts.problems import ServiceError
from sluice.contracts.states import ChainState
from wfms.operator.domain.partial import partial_outputs
from wfms.operator.domain.plan_drawing import Drawing, draw
from wfms.operator.domain.progress import ChainProgress, StepProgress
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_chain_list import read_progress
from wfms.operator.usecases.read_outputs import outputs_of
from wfms.operator.usecases.read_step_waits import with_step_waits
from wfms.operator.usecases.read_templates import read_template_by_id
from wfms.operator.usecases.read_upload_waits import with_upload_waits

#: Files of an output that its chain's page names.
FIRST_FILES = 5


@dataclass(frozen=True, slots=True)
class KnownDataset:
    """``dataset`` None: the DMS does not know it or does not answer."""

    entry: ChainDataset
    dataset: Dataset | None

    @property
    def standing(self) -> str:
        return standing(self.entry, self.dataset)


@dataclass(frozen=True, slots=True)
class OutputPreview:
    """An output with its first files; none of them where its data set cannot be read."""

    output: ChainOutput
    files: list[File]

    @property
    def readable(self) -> bool:
        return self.output.dataset.usable


@dataclass(frozen=True, slots=True)
class ChainDetail:
    """``template`` None: it was never stored here. ``results``: of a chain that has finished.
    ``partial``: what there is of one that is over and has not.
    """

    progress: ChainProgress
    template: StoredTemplate | None
    datasets: list[KnownDataset]
    results: list[OutputPreview]
    partial: list[PartialOutput]

    @property
    def drawing(self) -> Drawing | None:
        return None if self.template is None else draw(self.template.plan)

    def step(self, name: str) -> StepProgress | None:
        return next(
            (progress for progress in self.progress.steps if progress.step.name == name), None
        )


async def read_chain_detail(context: OperatorContext, uid: UUID) -> ChainDetail:
    """Precondition: none. Effect: none. Raises ``NotFound`` and ``NotAvailable`` of the chain
    service; what the DMS or the WMS does not say is left out.
    """
    dms = context.dms
    chain = await with_upload_waits(dms, await context.chains.chain(uid))
    progress, template, datasets = await asyncio.gather(
        read_progress(context.wms, [chain]),
        read_template_by_id(context.database, chain.template_id),
        asyncio.gather(*(_known(dms, entry) for entry in chain.datasets)),
    )
    [explained], results = await asyncio.gather(
        with_step_waits(context.wms, progress), _results(dms, chain, template)
    )
    return ChainDetail(explained, template, datasets, results, _partial(chain, template, datasets))


def _partial(
    chain: Chain, template: StoredTemplate | None, datasets: list[KnownDataset]
) -> list[PartialOutput]:
    if not chain.state.final or chain.state is ChainState.FINISHED:
        return []
    known = {found.dataset.uid: found.dataset for found in datasets if found.dataset is not None}
    return partial_outputs(chain, known, None if template is None else template.plan)


async def _results(
    dms: DmsClient, chain: Chain, template: StoredTemplate | None
) -> list[OutputPreview]:
    if chain.state is not ChainState.FINISHED:
        return []
    try:
        outputs = await outputs_of(dms, chain, template)
        return list(await asyncio.gather(*(_result(dms, output) for output in outputs)))
    except ServiceError:
        return []


async def _result(dms: DmsClient, output: ChainOutput) -> OutputPreview:
    files = (
        (await dms.files(output.dataset.uid, limit=FIRST_FILES)).files
        if output.dataset.usable
        else []
    )
    return OutputPreview(output, files[:FIRST_FILES])


async def _known(dms: DmsClient, entry: ChainDataset) -> KnownDataset:
    try:
        return KnownDataset(entry, await dms.dataset(entry.uid))
    except ServiceError:
        return KnownDataset(entry, None)
