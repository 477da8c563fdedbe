"""The quotas of a person with an account."""

from sluice.contracts.access.quotas import (
    HolderKind,
    PersonQuotas,
)
from sluice.contracts.common.problems import NotFound
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db.people import find_person
from wfms.operator.identity.usecases.quotas.list_holdings import list_holdings


async def collect_person_quotas(context: OperatorContext, name: str) -> PersonQuotas:
    """Return the usage and quotas of a person from all services.

    Raises:
        NotAvailable: A service does not answer.
    """
    has = (await list_holdings(context, HolderKind.PERSON, name)).get(name, {})
    return PersonQuotas(name=name, **{str(quantity): quota for quantity, quota in has.items()})


async def require_account(context: OperatorContext, name: str) -> None:
    """Require that an account has this name.

    Raises:
        NotFound: There is no such account.
    """
    async with context.database.connection() as connection:
        if await find_person(connection, name) is None:
            raise NotFound(f"no account is named {quoted(name)}: see `sluice user list`")
