"""Reads one data set with its files and its chains."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains import Chain
from sluice.contracts.datasets import (
    Dataset,
    DatasetStatus,
    File,
)
from sluice.contracts.intake import Unmatched
from sluice.contracts.labels import chain_of, label
from sluice.contracts.problems import ServiceError
from sluice.contracts.standing_list import Standing
from sluice.contracts.states import DatasetState
from wfms.operator.domain.progress import ChainProgress
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_chain_list import read_progress
from wfms.operator.usecases.read_due import read_standing
from wfms.operator.usecases.review_unmatched import review_unmatched

#: Files on one page.
_FILES = 50
_MOST = 1000


@dataclass(frozen=True, slots=True)
class DatasetDetail:
    """``next``: where the next page of its files begins; None on the last. ``chains`` None: the
    chain service does not answer. ``unmatched``: where it fitted no template and waits. ``status``
    None: not known now. ``namesakes``: others that people call so, the newest first. ``standing``:
    of one that grows, unless that is not known now. ``made_by``: the chain that wrote it; None
    where no chain did, or the chain service does not tell.
    """

    dataset: Dataset
    files: list[File]
    next: str | None
    chains: list[ChainProgress] | None
    unmatched: Unmatched | None
    status: DatasetStatus | None
    namesakes: list[Dataset]
    standing: Standing | None = None
    made_by: Chain | None = None


async def read_dataset_detail(
    context: OperatorContext, uid: UUID, *, after: str | None = None
) -> DatasetDetail:
    """Effect: none. ``after``: the page of files behind this place.
    Raises ``NotFound`` and ``NotAvailable`` of the DMS; what others do not say is left out.
    """
    dms = context.dms
    dataset, files, made, waiting, status = await asyncio.gather(
        dms.dataset(uid),
        dms.files(uid, after=after, limit=_FILES),
        _chains(context, uid),
        _unmatched(context, uid),
        _status(context, uid),
    )
    namesakes, standing, made_by = await asyncio.gather(
        _namesakes(dms, dataset), read_standing(context, dataset), _made_by(context, dataset)
    )
    return DatasetDetail(
        dataset, files.files, files.after, made, waiting, status, namesakes, standing, made_by
    )


async def _made_by(context: OperatorContext, dataset: Dataset) -> Chain | None:
    uid = chain_of(dataset)
    if uid is None:
        return None
    try:
        return await context.chains.chain(uid)
    except ServiceError:
        return None


async def _chains(context: OperatorContext, uid: UUID) -> list[ChainProgress] | None:
    try:
        made = await context.chains.chains(dataset_uid=uid)
        return await read_progress(context.wms, made.chains)
    except ServiceError:
        return None


async def _namesakes(dms: DmsClient, dataset: Dataset) -> list[Dataset]:
    """Registered names are one data set's alone."""
    if label(dataset) == dataset.name:
        return []
    try:
        found = await dms.datasets_called(label(dataset))
    except ServiceError:
        return []
    others = [
        namesake
        for namesake in found
        if namesake.uid != dataset.uid and namesake.state is not DatasetState.DELETED
    ]
    return sorted(others, key=lambda namesake: namesake.timestamp, reverse=True)


async def read_dataset_status(context: OperatorContext, uid: UUID) -> DatasetStatus:
    """Effect: none. Raises ``NotFound`` and ``NotAvailable`` of the DMS; why a chain waits is left
    out where the intake does not say.
    """
    status = await context.dms.dataset_status(uid)
    try:
        waits = await context.intake.why_chain_waits(uid)
    except ServiceError:
        return status
    return status.model_copy(update={"chain_waits": waits})


async def _status(context: OperatorContext, uid: UUID) -> DatasetStatus | None:
    try:
        return await read_dataset_status(context, uid)
    except ServiceError:
        return None


async def _unmatched(context: OperatorContext, uid: UUID) -> Unmatched | None:
    try:
        listed = await review_unmatched(context, limit=_MOST)
    except ServiceError:
        return None
    return next((unmatched for unmatched in listed.datasets if unmatched.dataset_uid == uid), None)
