"""A chain with everything that its page shows."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain, ChainDataset, ChainOutput
from sluice.contracts.common.labels import entry_state_text
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import Dataset, File
from sluice.contracts.data.partial import PartialOutput
from wfms.operator.chains.domain.partial import partial_outputs
from wfms.operator.chains.domain.progress import ChainProgress, StepProgress
from wfms.operator.chains.usecases.chains.add_step_waits import add_step_waits
from wfms.operator.chains.usecases.chains.add_upload_waits import add_upload_waits
from wfms.operator.chains.usecases.chains.list_outputs import list_outputs
from wfms.operator.chains.usecases.chains.list_progress import list_progress
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.find_template_by_id import find_template_by_id
from wfms.operator.web.domain.plan_drawing import Drawing, draw

#: Files of an output that the page of its chain lists.
FIRST_FILES = 5


@dataclass(frozen=True, slots=True)
class KnownDataset:
    """A data set of a chain; ``dataset`` is None if the DMS does not know it or does not answer."""

    entry: ChainDataset
    dataset: Dataset | None

    @property
    def state_text(self) -> str:
        """The state of the data set, in words."""
        return entry_state_text(self.entry, self.dataset)


@dataclass(frozen=True, slots=True)
class OutputPreview:
    """An output with its first files; there are none if its data set cannot be read."""

    output: ChainOutput
    files: list[File]

    @property
    def readable(self) -> bool:
        """Whether the files of the output can be read."""
        return self.output.dataset.usable


@dataclass(frozen=True, slots=True)
class ChainDetail:
    """The content of the page of a chain.

    Attributes:
        template: None if the template was never stored here.
        results: The outputs of a chain that has finished.
        partial: The remaining outputs of a chain that ended without finishing.
    """

    progress: ChainProgress
    template: StoredTemplate | None
    datasets: list[KnownDataset]
    results: list[OutputPreview]
    partial: list[PartialOutput]

    @property
    def drawing(self) -> Drawing | None:
        """The drawing of the plan, if the template is known."""
        return None if self.template is None else draw(self.template.plan)

    def step(self, name: str) -> StepProgress | None:
        """Return the progress of the step with this name, or None."""
        return next(
            (progress for progress in self.progress.steps if progress.step.name == name), None
        )


async def get_chain_detail(context: OperatorContext, uid: UUID) -> ChainDetail:
    """Return a chain with what its page shows; what the DMS or the WMS does not answer is left out.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service does not answer.
    """
    dms = context.dms
    chain = await add_upload_waits(dms, await context.chains.get_chain(uid))
    progress, template, datasets = await asyncio.gather(
        list_progress(context.wms, [chain]),
        find_template_by_id(context.database, chain.template_id),
        asyncio.gather(*(_find_dataset(dms, entry) for entry in chain.datasets)),
    )
    [explained], results = await asyncio.gather(
        add_step_waits(context.wms, progress), _list_results(dms, chain, template)
    )
    return ChainDetail(
        explained, template, datasets, results, _list_partial_outputs(chain, template, datasets)
    )


def _list_partial_outputs(
    chain: Chain, template: StoredTemplate | None, datasets: list[KnownDataset]
) -> list[PartialOutput]:
    if not chain.state.final or chain.state is ChainState.FINISHED:
        return []
    datasets_by_uid = {
        entry.dataset.uid: entry.dataset for entry in datasets if entry.dataset is not None
    }
    return partial_outputs(chain, datasets_by_uid, None if template is None else template.plan)


async def _list_results(
    dms: DmsClient, chain: Chain, template: StoredTemplate | None
) -> list[OutputPreview]:
    if chain.state is not ChainState.FINISHED:
        return []
    try:
        outputs = await list_outputs(dms, chain, template)
        return list(await asyncio.gather(*(_get_result(dms, output) for output in outputs)))
    except ServiceError:
        return []


async def _get_result(dms: DmsClient, output: ChainOutput) -> OutputPreview:
    files = (
        (await dms.list_files(output.dataset.uid, limit=FIRST_FILES)).files
        if output.dataset.usable
        else []
    )
    return OutputPreview(output, files[:FIRST_FILES])


async def _find_dataset(dms: DmsClient, entry: ChainDataset) -> KnownDataset:
    try:
        return KnownDataset(entry, await dms.get_dataset(entry.uid))
    except ServiceError:
        return KnownDataset(entry, None)
