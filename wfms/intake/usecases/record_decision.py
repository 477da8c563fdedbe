"""Writes down what was decided about a data set."""

from datetime import datetime

import structlog

from sluice.contracts.chains import NewChain
from sluice.contracts.datasets import Dataset
from sluice.servicekit.database import Connection
from wfms.intake.db import intake
from wfms.intake.db.ties import put_tie
from wfms.intake.domain.matching import Matched, NotMatched

log = structlog.get_logger(__name__)


async def record_decision(connection: Connection, dataset: Dataset, decision: Matched | NotMatched, *, now: datetime) -> None:
    """Effect: a matched data set waits for its handing over, another one is visible with the reason; so are templates of the same
    priority that matched as well. A decision that waits already stays as it is. Messages: none. Errors: none."""
    match decision:
        case Matched(template, params, rivals):
            chain = NewChain(
                dataset=dataset,
                template_id=template.id,
                template_name=template.name,
                template_version=template.version,
                plan=template.plan,
                params=params,
            )
            await intake.insert_handover(connection, chain)
            log.info("dataset.matched", dataset=str(dataset.uid), template=template.name)
            for rival in rivals:
                await put_tie(connection, dataset, template=template, rival=rival, now=now)
            if rivals:
                names = [rival.name for rival in rivals]
                log.warning("dataset.tied", dataset=str(dataset.uid), template=template.name, rivals=names)
        case NotMatched(reason):
            await intake.put_unmatched(connection, dataset, reason=reason, now=now)
            log.warning("dataset.unmatched", dataset=str(dataset.uid), reason=reason)
