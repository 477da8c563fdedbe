"""Routes by which a service tells what groups and people have of what it counts, and is told how
much they may have.
"""

from typing import Annotated

import structlog
from fastapi import APIRouter, Query
from pydantic import TypeAdapter, ValidationError

from sluice.contracts.access import CallingService
from sluice.contracts.owners import ALL, GroupName
from sluice.contracts.problems import Unprocessable
from sluice.contracts.quotas import HolderKind, HolderName, Holdings, QuotaHolder, SetMost
from sluice.contracts.wording import sentence_of
from sluice.servicekit.access.asking import Asking
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal import Person
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router, errors
from sluice.servicekit.quotas.counted import Counted

_GROUP_NAME = TypeAdapter[str](GroupName)

log = structlog.get_logger(__name__)


def quotas_router(database: Database, counted: Counted) -> APIRouter:
    router = api_router("/api/v1/quotas", tags=["groups"])

    @router.get("/{kind}")
    @allow(CallingService.OPERATOR)
    async def holdings(
        kind: HolderKind,
        by: Asking,
        name: Annotated[HolderName | None, Query(description="Of this one alone.")] = None,
    ) -> Holdings:
        """Lists what each group, or person, has here, and may have; people see themselves, and
        their groups.
        """
        async with database.connection() as connection:
            found = await counted.holdings(connection, kind, name)
        seen = [each for each in found if sees(by, QuotaHolder(kind, each.name))]
        return Holdings(kind=kind, holdings=seen)

    @router.put("/{kind}/{name}", status_code=204, responses=errors(Unprocessable))
    @allow(CallingService.OPERATOR)
    async def set_(kind: HolderKind, name: HolderName, new: SetMost) -> None:
        """Sets how much a group, or a person, may have of what is counted here. It counts from now
        on for what is added; what there is stays. Repeating it is fine.
        """
        _require_name(kind, name)
        async with database.transaction() as transaction:
            await counted.set(transaction.connection, QuotaHolder(kind, name), new.most)
        log.info("quota.set", kind=kind, name=name, most=new.most)

    return router


def _require_name(kind: HolderKind, name: str) -> None:
    """Raises ``Unprocessable``."""
    try:
        if kind is HolderKind.GROUP:
            _GROUP_NAME.validate_python(name)
    except ValidationError as error:
        raise Unprocessable(sentence_of(error.errors()[0])) from error


def sees(by: Person | None, holder: QuotaHolder) -> bool:
    """People see themselves, and their groups; services and administrators see all."""
    sight = ALL if by is None else by.sight
    if holder.kind is HolderKind.GROUP:
        return sight.is_member(holder.name)
    return sight == ALL or (by is not None and by.name == holder.name)
