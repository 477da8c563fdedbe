"""Find how much of an append-only data set each template was given."""

from sluice.contracts.common.problems import ServiceError
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import Dataset
from wfms.operator.context import OperatorContext


async def find_append_only_dataset(
    context: OperatorContext, dataset: Dataset
) -> AppendOnlyDataset | None:
    """Return how much of an append-only data set each template was given.

    None if the data set is not append-only or the DMS does not answer.
    """
    if dataset.append_only is None:
        return None
    try:
        datasets = await context.dms.list_append_only_datasets(uid=dataset.uid)
    except ServiceError:
        return None
    return datasets[0] if datasets else None
