"""The results of a chain: the outputs of its workflow, each a data set."""

import asyncio
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain, ChainOutput
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import PlanOutput
from wfms.operator.chains.domain.errors import NoOutputs
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.read_templates import read_template_by_id


async def read_outputs(context: OperatorContext, uid: UUID) -> tuple[Chain, list[ChainOutput]]:
    """Return a chain and those of its outputs that have a data set, in the order of the workflow.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the DMS does not answer.
    """
    chain = await context.chains.get_chain(uid)
    template = await read_template_by_id(context.database, chain.template_id)
    return chain, await list_outputs(context.dms, chain, template)


async def list_outputs(
    dms: DmsClient, chain: Chain, template: StoredTemplate | None
) -> list[ChainOutput]:
    """Return the outputs of a chain, or none if its template was never stored here."""
    dataset_uids = {
        (dataset.step, dataset.port): dataset.uid
        for dataset in chain.datasets
        if dataset.port is not None
    }
    planned = (
        []
        if template is None
        else [
            output for output in template.plan.outputs if (output.step, output.port) in dataset_uids
        ]
    )
    datasets = await asyncio.gather(
        *(_find_dataset(dms, dataset_uids[output.step, output.port]) for output in planned)
    )
    return [
        _build_output(output, dataset)
        for output, dataset in zip(planned, datasets, strict=True)
        if dataset is not None
    ]


async def finished_outputs(context: OperatorContext, uid: UUID) -> tuple[Chain, list[ChainOutput]]:
    """Return the outputs of a finished chain, as ``read_outputs`` does.

    Raises:
        NoOutputs: The chain has not finished or has no outputs.
    """
    chain, outputs = await read_outputs(context, uid)
    if chain.state is not ChainState.FINISHED or not outputs:
        raise NoOutputs(chain)
    return chain, outputs


async def _find_dataset(dms: DmsClient, uid: UUID) -> Dataset | None:
    try:
        return await dms.get_dataset(uid)
    except NotFound:
        return None


def _build_output(plan_output: PlanOutput, dataset: Dataset) -> ChainOutput:
    return ChainOutput(
        name=plan_output.name, kind=plan_output.kind, single=plan_output.single, dataset=dataset
    )
