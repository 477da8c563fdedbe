"""Record decisions about data sets: handovers, unmatched data sets and ties."""

from collections.abc import Iterable
from datetime import datetime

import structlog

from sluice.contracts.access.owners import group_of_chain
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.templates import Template
from sluice.servicekit.database import Connection
from wfms.intake.db import intake
from wfms.intake.db.ties import store_tie
from wfms.intake.domain.matching import Match, NoMatch

#: A data set, the template that takes it, and another template that matches too.
_Tie = tuple[Dataset, Template, Template]

log = structlog.get_logger(__name__)


async def record_decisions(
    connection: Connection,
    decisions: Iterable[tuple[Dataset, Match | NoMatch]],
    *,
    now: datetime,
) -> None:
    """Store a handover for each matched data set, and a visible reason for each other one.

    Ties with templates of the same priority are stored, too. A handover that waits already stays
    unchanged.
    """
    ties: list[_Tie] = []
    for dataset, decision in decisions:
        ties += await _record(connection, dataset, decision, now=now)
    # Many data sets have the same ties. Write them in one order, so that transactions do not
    # deadlock.
    for dataset, template, other in sorted(ties, key=lambda tie: (tie[1].id, tie[2].id)):
        await store_tie(connection, dataset, template=template, other=other, now=now)


async def _record(
    connection: Connection, dataset: Dataset, decision: Match | NoMatch, *, now: datetime
) -> "list[_Tie]":
    """Record one decision, and return its ties."""
    match decision:
        case Match(template, params, tied):
            group = group_of_chain(template.group, dataset.group)
            # The person who registered the data set owns the chain if both have the same group.
            chain = NewChain(
                dataset=dataset,
                template_id=template.id,
                template=template.name,
                template_version=template.version,
                plan=template.plan,
                params=params,
                group=group,
                owner=dataset.owner if group == dataset.group else None,
            )
            await intake.insert_handover(connection, chain)
            log.info("dataset.matched", dataset=str(dataset.uid), template=template.name)
            if tied:
                names = [other.name for other in tied]
                log.warning(
                    "dataset.tied", dataset=str(dataset.uid), template=template.name, tied=names
                )
            return [(dataset, template, other) for other in tied]
        case NoMatch(reason):
            await intake.store_unmatched(connection, dataset, reason=reason, now=now)
            log.warning("dataset.unmatched", dataset=str(dataset.uid), reason=reason)
            return []
