"""A new decision about an unmatched data set."""

from collections.abc import Sequence
from typing import assert_never
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.chains.intake import Rematched
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.templates import Template
from wfms.intake.db import intake
from wfms.intake.domain.matching import Match, NoMatch, decide
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.record_decisions import record_decisions


class DatasetNotUnmatched(NotFound):
    """The data set is not among the unmatched: it has a chain, or was never matched."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"data set {uid} is not among the unmatched ones; to process it again, start a chain",
            dataset=uid,
        )


class UnmatchedDatasetDeleted(Conflict):
    """The data set was deleted, and is no longer among the unmatched."""

    def __init__(self, dataset: UUID) -> None:
        super().__init__(
            f"data set {dataset} was deleted; it is no longer kept as unmatched", dataset=dataset
        )


async def decide_again(
    context: IntakeContext, uid: UUID, *, templates: Sequence[Template]
) -> Rematched:
    """Match a data set again with these templates.

    Raises:
        DatasetNotUnmatched: It is not among the unmatched ones.
        Gone: It was deleted.
        NotAvailable: The DMS does not answer.
    """
    database = context.database
    dataset = await _still_there(context.dms, uid)
    decision = None if dataset is None else decide(dataset, templates)
    async with database.transaction() as transaction:
        if not await intake.lock_unmatched(transaction.connection, uid):
            raise DatasetNotUnmatched(uid)
        if not isinstance(decision, NoMatch):  # a data set that stays unmatched keeps its time
            await intake.delete_unmatched(transaction.connection, uid)
        if dataset is not None and decision is not None:
            await record_decisions(
                transaction.connection, [(dataset, decision)], now=database.clock.now()
            )
    match decision:
        case None:
            raise UnmatchedDatasetDeleted(uid)
        case Match(template):
            return Rematched(template=template.name)
        case NoMatch(reason):
            return Rematched(template=None, reason=reason)
    assert_never(decision)


async def _still_there(dms: DmsClient, uid: UUID) -> Dataset | None:
    try:
        dataset = await dms.get_dataset(uid)
    except NotFound:
        return None
    return dataset if dataset.usable else None
