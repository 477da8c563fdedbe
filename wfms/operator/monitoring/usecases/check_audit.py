"""Check the integrity of the audit logs of all services."""

import asyncio

from sluice.contracts.access.audit import (
    AuditVerdicts,
)
from sluice.servicekit.audit.chain import verdict
from wfms.operator.context import OperatorContext

#: The name of this service.
_OWN = "wfms.operator"


async def check_audit(context: OperatorContext) -> AuditVerdicts:
    """Return the verdict of each service on the integrity of its audit log.

    Raises:
        NotAvailable: A service does not answer.
    """
    own = await verdict(context.database, _OWN)
    others = await asyncio.gather(*(client.get_verdict() for client in context.audits.values()))
    return AuditVerdicts(services=[own, *others])
