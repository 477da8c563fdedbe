"""Routes for the usage and the quotas of groups and people."""

from typing import Annotated

import structlog
from fastapi import Depends, Query
from pydantic import TypeAdapter, ValidationError

from sluice.contracts.access.owners import ALL, GroupName
from sluice.contracts.access.quotas import (
    HolderKind,
    HolderName,
    Holdings,
    QuotaHolder,
    SetQuotaLimits,
)
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.wording import validation_sentence
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal import Person
from sluice.servicekit.access.principal_dependencies import CallerPerson
from sluice.servicekit.quotas.counted_quantities import CountedQuantities
from sluice.servicekit.web.dependencies import AppDatabase, from_app
from sluice.servicekit.web.http import api_router, errors

#: The quantities that the service counts.
Quantities = Annotated[CountedQuantities, Depends(from_app(CountedQuantities))]

_GROUP_NAME = TypeAdapter[str](GroupName)

log = structlog.get_logger(__name__)


router = api_router("/api/v1/quotas", tags=["groups"])


@router.get("/{kind}", operation_id="list_holdings")
@allow(CallingService.OPERATOR)
async def list_holdings_route(
    database: AppDatabase,
    quantities: Quantities,
    *,
    kind: HolderKind,
    person: CallerPerson,
    name: Annotated[HolderName | None, Query(description="Only this group or person.")] = None,
) -> Holdings:
    """List what each group or person uses here, and the quotas.

    People see themselves and their groups.
    """
    async with database.connection() as connection:
        stored_holdings = await quantities.holdings(connection, kind, name)
    visible = [each for each in stored_holdings if may_see(person, QuotaHolder(kind, each.name))]
    return Holdings(kind=kind, holdings=visible)


@router.put(
    "/{kind}/{name}",
    operation_id="set_quota_limits",
    status_code=204,
    responses=errors(Unprocessable),
)
@allow(CallingService.OPERATOR)
async def set_quota_limits_route(
    database: AppDatabase,
    quantities: Quantities,
    *,
    kind: HolderKind,
    name: HolderName,
    new: SetQuotaLimits,
) -> None:
    """Set how much a group or a person may use here.

    The quota applies to later additions. Existing usage stays. Repeating the request is safe.
    """
    _require_name(kind, name)
    async with database.transaction() as transaction:
        await quantities.set(transaction.connection, QuotaHolder(kind, name), new.most)
    log.info("quota.set", kind=kind, name=name, limits=new.most)


def _require_name(kind: HolderKind, name: str) -> None:
    """Check the name of a group.

    Raises:
        Unprocessable: It is not a valid name of a group.
    """
    try:
        if kind is HolderKind.GROUP:
            _GROUP_NAME.validate_python(name)
    except ValidationError as error:
        raise Unprocessable(validation_sentence(error.errors()[0])) from error


def may_see(person: Person | None, holder: QuotaHolder) -> bool:
    """Return whether a person may see the usage of a holder.

    People see themselves and their groups. Services and administrators see everything.
    """
    visibility = ALL if person is None else person.visibility
    if holder.kind is HolderKind.GROUP:
        return visibility.is_member(holder.name)
    return visibility == ALL or (person is not None and person.name == holder.name)
