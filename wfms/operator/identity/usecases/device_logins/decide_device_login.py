"""Allow or refuse a pending device login."""

from sluice.contracts.access.access import Role
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import device_logins
from wfms.operator.identity.db.device_logins import DeviceLoginRow
from wfms.operator.identity.domain.errors import (
    DeviceLoginUnknown,
    InsufficientRole,
)
from wfms.operator.identity.usecases.device_logins.get_pending_device_login import (
    get_pending_device_login,
)


async def decide_device_login(
    context: OperatorContext, code: str, *, by: Person, role: Role | None
) -> DeviceLoginRow:
    """Allow or refuse a pending login.

    Args:
        context: The context of the operator service.
        code: The code that the person typed.
        by: The person who decides.
        role: The highest role of the token; None refuses the login.

    Raises:
        InsufficientRole: The person does not have the role.
        DeviceLoginUnknown: No pending login has this code.
        TooManyDeviceLogins: The person typed too many wrong codes.
    """
    if role is not None and not by.role.includes(role):
        raise InsufficientRole(f"the token is to be {role}", f"you are {by.role}")
    pending = await get_pending_device_login(context, code, by=by)
    async with context.database.transaction() as transaction:
        decided = await device_logins.decide_login(
            transaction.connection, pending.user_code, by.name, role
        )
    if decided is None:  # somebody else decided, or the login expired meanwhile
        raise DeviceLoginUnknown()
    add_audit_facts(label=decided.label, role=role or "refused")
    return decided
