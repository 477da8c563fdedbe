"""Usage and quotas of groups and people, from the services that count them."""

import asyncio
from collections.abc import Mapping

import structlog

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.wms import WmsClient
from sluice.contracts.access.access import Role
from sluice.contracts.access.quotas import (
    HolderKind,
    PersonQuotas,
    Quantity,
    Quota,
    QuotaHolder,
    SetQuotaLimits,
    SetQuotas,
)
from sluice.contracts.common.problems import Forbidden, NotFound, Unprocessable
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.people import find_person

log = structlog.get_logger(__name__)

#: A service that counts quantities.
CountingService = ChainsClient | DmsClient | WmsClient
#: Usage by quantity.
Has = Mapping[Quantity, Quota]


class ForeignQuotas(Forbidden):
    """The quotas of a person, requested by somebody who is not an administrator."""

    def __init__(self, by: Person) -> None:
        super().__init__(
            f"the usage of a person is visible only to this person and to the role {Role.ADMIN},"
            f" and you are {by.name}"
        )


def _services_by_quantity(context: OperatorContext) -> Mapping[Quantity, CountingService]:
    """Return the service that counts each quantity."""
    return {
        Quantity.CHAINS: context.chains,
        Quantity.BYTES: context.dms,
        Quantity.FILES: context.dms,
        Quantity.WAITING: context.wms,
    }


async def read_holdings(
    context: OperatorContext, kind: HolderKind, name: str | None = None
) -> Mapping[str, Has]:
    """Return, by name, the usage and quotas that the principal may see.

    Raises:
        NotAvailable: A service does not answer.
    """
    services = dict.fromkeys(_services_by_quantity(context).values())
    answers = await asyncio.gather(
        *(service.list_holdings(kind, name=name) for service in services)
    )
    usage_by_holder: dict[str, dict[Quantity, Quota]] = {}
    for answer in answers:
        for holding in answer.holdings:
            usage_by_holder.setdefault(holding.name, {}).update(holding.has)
    return usage_by_holder


async def set_quotas(context: OperatorContext, holder: QuotaHolder, new: SetQuotas) -> None:
    """Set the quotas of a holder in the services that count them.

    If a service does not answer, other services may already have the new values.

    Raises:
        NotAvailable: A service does not answer.
    """
    limits, services_by_quantity = new.changes(), _services_by_quantity(context)
    by_service: dict[CountingService, dict[Quantity, int | None]] = {}
    for quantity, number in limits.items():
        by_service.setdefault(services_by_quantity[quantity], {})[quantity] = number
    for service, limit in by_service.items():
        await service.set_quota_limits(holder.kind, holder.name, SetQuotaLimits(most=limit))
    log.info(
        "quota.set", holder=str(holder), **{str(each): limit for each, limit in limits.items()}
    )


async def read_person_quotas(context: OperatorContext, name: str, *, by: Person) -> PersonQuotas:
    """Return the usage and quotas of what a person created.

    Raises:
        ForeignQuotas: The principal is neither the person nor an administrator.
        NotFound: There is no such account.
        NotAvailable: A service does not answer.
    """
    if name != by.name:
        if by.role is not Role.ADMIN:
            raise ForeignQuotas(by)
        await _require_account(context, name)
    return await _read_quotas(context, name)


async def set_person_quotas(context: OperatorContext, name: str, new: SetQuotas) -> PersonQuotas:
    """Set the quotas of a person, as ``set_quotas`` does.

    Raises:
        Unprocessable: The request changes nothing.
        NotFound: There is no such account.
        NotAvailable: A service does not answer.
    """
    if not new.changes():
        raise Unprocessable("nothing was changed: give chains, bytes, files or waiting")
    await _require_account(context, name)
    add_audit_facts(**new.model_dump(exclude_none=True))
    await set_quotas(context, QuotaHolder(HolderKind.PERSON, name), new)
    return await _read_quotas(context, name)


async def _read_quotas(context: OperatorContext, name: str) -> PersonQuotas:
    has = (await read_holdings(context, HolderKind.PERSON, name)).get(name, {})
    return PersonQuotas(name=name, **{str(quantity): quota for quantity, quota in has.items()})


async def _require_account(context: OperatorContext, name: str) -> None:
    async with context.database.connection() as connection:
        if await find_person(connection, name) is None:
            raise NotFound(f"no account is named {quoted(name)}: see `sluice user list`")
