"""Acknowledge notices."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.attention import acknowledge_each
from sluice.contracts.chains.attention import (
    Acknowledge,
    Notice,
    Subject,
)
from sluice.contracts.common.problems import Conflict, NotFound
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.domain import notices


async def acknowledge_notices(
    context: OperatorContext, ids: Sequence[str], request: Acknowledge
) -> list[NotFound | Conflict | None]:
    """Record on the subjects of the notices that somebody has seen them.

    Returns:
        For each notice None, or the error because its subject no longer needs attention.

    Raises:
        NoSuchNotice: An id is not valid; nothing is acknowledged then.
        NotAvailable: A service does not answer.
    """
    subjects = [_parse_subject(notice_id) for notice_id in ids]
    return await acknowledge_each(
        subjects,
        request,
        chain=context.chains.acknowledge_chain,
        pilot=context.wms.acknowledge_pilot,
    )


def _parse_subject(notice: str) -> tuple[Subject, UUID]:
    subject = Notice.subject_of(notice)
    if subject is None:
        raise notices.NoSuchNotice(notice)
    return subject
