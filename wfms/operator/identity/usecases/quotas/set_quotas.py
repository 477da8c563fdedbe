"""Set the quotas of a group or person in the services that count them."""

import structlog

from sluice.contracts.access.quotas import (
    Quantity,
    QuotaHolder,
    SetQuotaLimits,
    SetQuotas,
)
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.quotas.counting_services import (
    CountingService,
    services_by_quantity,
)

log = structlog.get_logger(__name__)


async def set_quotas(context: OperatorContext, holder: QuotaHolder, new: SetQuotas) -> None:
    """Set the quotas of a holder in the services that count them.

    If a service does not answer, other services may already have the new values.

    Raises:
        NotAvailable: A service does not answer.
    """
    limits, services = new.changes(), services_by_quantity(context)
    by_service: dict[CountingService, dict[Quantity, int | None]] = {}
    for quantity, number in limits.items():
        by_service.setdefault(services[quantity], {})[quantity] = number
    for service, limit in by_service.items():
        await service.set_quota_limits(holder.kind, holder.name, SetQuotaLimits(most=limit))
    log.info(
        "quota.set", holder=str(holder), **{str(each): limit for each, limit in limits.items()}
    )
