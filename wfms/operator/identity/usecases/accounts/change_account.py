"""Change the account of a person."""

import structlog

from sluice.contracts.access.people import (
    Account,
    AccountChange,
)
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import people
from wfms.operator.identity.db.person_tokens import end_all_sessions
from wfms.operator.identity.domain.errors import OwnAccountChange, PersonUnknown
from wfms.operator.identity.usecases.accounts.account_fields import (
    hash_new_password,
    join_group_names,
)

log = structlog.get_logger(__name__)


async def change_account(
    context: OperatorContext, name: str, change: AccountChange, *, by: Person
) -> Account:
    """Change an account.

    A new password, or disabling the account, ends the sessions of the person.

    Raises:
        PersonUnknown: There is no such account.
        Unprocessable: The change is empty.
        OwnAccountChange: Administrators may not change their own role or disable themselves.
    """
    if change == AccountChange():
        raise Unprocessable("nothing was changed: give role, groups, disabled or password")
    if name == by.name and (change.role or change.disabled):
        raise OwnAccountChange()
    password = await hash_new_password(context, change.password)
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        changed = await people.update_person(connection, name, change, password=password)
        if changed is not None and (password is not None or change.disabled):
            await end_all_sessions(connection, name)
    if changed is None:
        raise PersonUnknown(name)
    password_change = "new" if password else None
    add_audit_facts(role=change.role, disabled=change.disabled, password=password_change)
    add_audit_facts(groups=None if change.groups is None else join_group_names(change.groups))
    log.info(
        "person.changed",
        person=name,
        role=change.role,
        groups=change.groups,
        disabled=change.disabled,
        password=None if password is None else "new",
        by=by.name,
    )
    return changed
