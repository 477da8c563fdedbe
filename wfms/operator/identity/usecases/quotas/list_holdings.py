"""List usage and quotas of groups or people, from the services that count them."""

import asyncio
from collections.abc import Mapping

from sluice.contracts.access.quotas import (
    HolderKind,
    Quantity,
    Quota,
)
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.quotas.counting_services import services_by_quantity

#: Usage by quantity.
Has = Mapping[Quantity, Quota]


async def list_holdings(
    context: OperatorContext, kind: HolderKind, name: str | None = None
) -> Mapping[str, Has]:
    """Return, by name, the usage and quotas that the principal may see.

    Raises:
        NotAvailable: A service does not answer.
    """
    services = dict.fromkeys(services_by_quantity(context).values())
    answers = await asyncio.gather(
        *(service.list_holdings(kind, name=name) for service in services)
    )
    usage_by_holder: dict[str, dict[Quantity, Quota]] = {}
    for answer in answers:
        for holding in answer.holdings:
            usage_by_holder.setdefault(holding.name, {}).update(holding.has)
    return usage_by_holder
