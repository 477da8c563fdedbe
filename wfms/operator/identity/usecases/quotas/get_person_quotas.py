"""Return the usage and quotas of a person."""

from sluice.contracts.access.access import Role
from sluice.contracts.access.quotas import (
    PersonQuotas,
)
from sluice.contracts.common.problems import Forbidden
from sluice.servicekit.access.principal import Person
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.quotas.person_quotas import (
    collect_person_quotas,
    require_account,
)


class ForeignQuotas(Forbidden):
    """The quotas of a person, requested by somebody who is not an administrator."""

    def __init__(self, by: Person) -> None:
        super().__init__(
            f"the usage of a person is visible only to this person and to the role {Role.ADMIN},"
            f" and you are {by.name}"
        )


async def get_person_quotas(context: OperatorContext, name: str, *, by: Person) -> PersonQuotas:
    """Return the usage and quotas of what a person created.

    Raises:
        ForeignQuotas: The principal is neither the person nor an administrator.
        NotFound: There is no such account.
        NotAvailable: A service does not answer.
    """
    if name != by.name:
        if by.role is not Role.ADMIN:
            raise ForeignQuotas(by)
        await require_account(context, name)
    return await collect_person_quotas(context, name)
