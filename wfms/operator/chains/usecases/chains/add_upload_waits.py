"""The reasons why the outputs of a chain are not uploaded yet."""

import asyncio

import structlog

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.labels import label
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import ChainState, DatasetState
from sluice.contracts.data.datasets import Dataset, DatasetStatus

log = structlog.get_logger(__name__)


async def add_upload_waits(dms: DmsClient, chain: Chain) -> Chain:
    """Return the chain, with the reason why its upload waits if the DMS gives one."""
    if chain.state is not ChainState.UPLOADING or chain.reason:
        return chain
    uids = [
        dataset.uid
        for dataset in chain.datasets
        if dataset.step is not None and dataset.port is not None
    ]
    try:
        datasets = await dms.list_datasets_by_uid(uids)
        incomplete = [
            dataset
            for dataset in datasets
            if dataset.state in {DatasetState.OPEN, DatasetState.UPLOADING}
        ]
        statuses = await asyncio.gather(
            *(dms.get_dataset_status(dataset.uid) for dataset in incomplete)
        )
    except ServiceError as error:
        log.warning("dms.no_answer", chain=str(chain.uid), reason=error.detail)
        return chain
    return chain.model_copy(
        update={"reason": _describe_waits(list(zip(incomplete, statuses, strict=True)))}
    )


def _describe_waits(outputs: list[tuple[Dataset, DatasetStatus]]) -> str:
    waits = [
        f"output {label(output)} waits for {status.waits_for}"
        for output, status in outputs
        if status.waits_for is not None
    ]
    return "; ".join(waits)
