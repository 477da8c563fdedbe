"""List the outputs of a chain's workflow, each a data set."""

import asyncio
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain, ChainOutput
from sluice.contracts.common.problems import NotFound
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import PlanOutput
from wfms.operator.templates.domain.template import StoredTemplate


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


async def _find_dataset(dms: DmsClient, uid: UUID) -> Dataset | None:
    try:
        return await dms.get_dataset(uid)
    except NotFound:
        return None


def _build_output(plan_output: PlanOutput, dataset: Dataset) -> ChainOutput:
    return ChainOutput(
        name=plan_output.name, kind=plan_output.kind, single=plan_output.single, dataset=dataset
    )
