"""Return a data set with its files and its chains."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.chains import Chain
from sluice.contracts.chains.intake import Unmatched
from sluice.contracts.common.labels import find_chain_uid, label
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.common.states import DatasetState
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import Dataset, DatasetStatus, File
from wfms.operator.chains.domain.progress import ChainProgress
from wfms.operator.chains.usecases.chains.list_progress import list_progress
from wfms.operator.chains.usecases.data.get_dataset_status import get_dataset_status
from wfms.operator.chains.usecases.unmatched.review_unmatched import review_unmatched
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.find_append_only_dataset import find_append_only_dataset

#: Files on one page.
_FILES_PER_PAGE = 50
_MAX_UNMATCHED = 1000


@dataclass(frozen=True, slots=True)
class DatasetDetail:
    """The content of the page of a data set.

    Attributes:
        next: The start of the next page of files; None on the last page.
        chains: None if the chain service does not answer.
        unmatched: Set if the data set matches no template and waits.
        status: None if it is not known now.
        namesakes: Other data sets with the same name, newest first.
        append_only: How an append-only data set was used; None if it is not known now.
        producer: The chain that wrote the data set; None if there is none or it is not known now.
    """

    dataset: Dataset
    files: list[File]
    next: str | None
    chains: list[ChainProgress] | None
    unmatched: Unmatched | None
    status: DatasetStatus | None
    namesakes: list[Dataset]
    append_only: AppendOnlyDataset | None = None
    producer: Chain | None = None


async def get_dataset_detail(
    context: OperatorContext, uid: UUID, *, after: str | None = None
) -> DatasetDetail:
    """Return a data set with a page of its files; missing answers of other services are left out.

    Args:
        context: The context of the operator service.
        uid: The data set.
        after: The ``next`` of the previous page of files.

    Raises:
        NotFound: There is no such data set.
        NotAvailable: The DMS does not answer.
    """
    dms = context.dms
    dataset, files, chains, waiting, status = await asyncio.gather(
        dms.get_dataset(uid),
        dms.list_files(uid, after=after, limit=_FILES_PER_PAGE),
        _list_chains(context, uid),
        _find_unmatched(context, uid),
        _find_status(context, uid),
    )
    namesakes, append_only, producer = await asyncio.gather(
        _list_namesakes(dms, dataset),
        find_append_only_dataset(context, dataset),
        _find_producer(context, dataset),
    )
    return DatasetDetail(
        dataset, files.files, files.after, chains, waiting, status, namesakes, append_only, producer
    )


async def _find_producer(context: OperatorContext, dataset: Dataset) -> Chain | None:
    uid = find_chain_uid(dataset)
    if uid is None:
        return None
    try:
        return await context.chains.get_chain(uid)
    except ServiceError:
        return None


async def _list_chains(context: OperatorContext, uid: UUID) -> list[ChainProgress] | None:
    try:
        page = await context.chains.list_chains(dataset_uid=uid)
        return await list_progress(context.wms, page.chains)
    except ServiceError:
        return None


async def _list_namesakes(dms: DmsClient, dataset: Dataset) -> list[Dataset]:
    """Return other data sets with the same name; registered names are unique."""
    if label(dataset) == dataset.name:
        return []
    try:
        datasets = await dms.list_datasets_by_name(label(dataset))
    except ServiceError:
        return []
    others = [
        namesake
        for namesake in datasets
        if namesake.uid != dataset.uid and namesake.state is not DatasetState.DELETED
    ]
    return sorted(others, key=lambda namesake: namesake.timestamp, reverse=True)


async def _find_status(context: OperatorContext, uid: UUID) -> DatasetStatus | None:
    try:
        return await get_dataset_status(context, uid)
    except ServiceError:
        return None


async def _find_unmatched(context: OperatorContext, uid: UUID) -> Unmatched | None:
    try:
        unmatched_list = await review_unmatched(context, limit=_MAX_UNMATCHED)
    except ServiceError:
        return None
    return next(
        (unmatched for unmatched in unmatched_list.datasets if unmatched.dataset_uid == uid), None
    )
