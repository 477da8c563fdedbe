"""Create the account of a person."""

import structlog

from sluice.contracts.access.people import (
    Account,
    NewAccount,
)
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import people
from wfms.operator.identity.domain.errors import PersonExists
from wfms.operator.identity.usecases.accounts.account_fields import (
    hash_new_password,
    join_group_names,
)

log = structlog.get_logger(__name__)


async def create_account(context: OperatorContext, new: NewAccount, *, by: Person) -> Account:
    """Create an account.

    Raises:
        PersonExists: An account has this name.
    """
    password = await hash_new_password(context, new.password)
    async with context.database.transaction() as transaction:
        account = await people.insert_person(transaction.connection, new, password=password)
    if account is None:
        raise PersonExists(new.name)
    add_audit_facts(person=new.name, role=new.role, groups=join_group_names(new.groups))
    log.info("person.added", person=new.name, role=new.role, by=by.name)
    return account
