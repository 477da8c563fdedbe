"""Matches one data set again that fits no template."""

from collections.abc import Sequence
from typing import assert_never
from uuid import UUID

from sluice.clients.dms import DmsClient
from sluice.contracts.datasets import Dataset
from sluice.contracts.intake import Rematched
from sluice.contracts.owners import ALL, Sight
from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.templates import Template
from wfms.intake.db import intake
from wfms.intake.domain.matching import Matched, NotMatched, decide
from wfms.intake.usecases.context import IntakeContext
from wfms.intake.usecases.record_decisions import record_decisions


class NotUnmatched(NotFound):
    """The data set is not among the unmatched: it has a chain, or was never looked at."""

    def __init__(self, uid: UUID) -> None:
        super().__init__(
            f"data set {uid} is not among the unmatched ones; to process it again, request a chain",
            dataset=uid,
        )


class Gone(Conflict):
    """The data set was deleted, and is not among the unmatched any more."""

    def __init__(self, dataset: UUID) -> None:
        super().__init__(
            f"data set {dataset} was deleted; it is not kept as unmatched any more", dataset=dataset
        )


async def rematch_dataset(context: IntakeContext, uid: UUID, sight: Sight = ALL) -> Rematched:
    """Precondition: the data set is among the unmatched that are seen. Effect: it is decided upon
    again, or forgotten where it was deleted. Messages: none. Errors: ``NotUnmatched``, ``Gone``,
    ``NotAvailable``."""
    async with context.database.connection() as connection:
        if not await intake.unmatched_seen(connection, uid, sight):
            raise NotUnmatched(uid)
    templates = (await context.operator.templates()).templates
    return await decide_again(context, uid, templates=templates)


async def decide_again(
    context: IntakeContext, uid: UUID, *, templates: Sequence[Template]
) -> Rematched:
    """As ``rematch_dataset``, with the templates at hand."""
    database = context.database
    dataset = await _still_there(context.dms, uid)
    decision = None if dataset is None else decide(dataset, templates)
    async with database.transaction() as transaction:
        if not await intake.lock_unmatched(transaction.connection, uid):
            raise NotUnmatched(uid)
        if not isinstance(
            decision, NotMatched
        ):  # what stays unmatched keeps the time since when it is
            await intake.delete_unmatched(transaction.connection, uid)
        if dataset is not None and decision is not None:
            await record_decisions(
                transaction.connection, [(dataset, decision)], now=database.clock.now()
            )
    match decision:
        case None:
            raise Gone(uid)
        case Matched(template):
            return Rematched(template=template.name)
        case NotMatched(reason):
            return Rematched(template=None, reason=reason)
    assert_never(decision)


async def _still_there(dms: DmsClient, uid: UUID) -> Dataset | None:
    try:
        dataset = await dms.dataset(uid)
    except NotFound:
        return None
    return dataset if dataset.usable else None
