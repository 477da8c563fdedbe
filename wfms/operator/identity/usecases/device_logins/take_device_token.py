"""Return the token of a device login that was allowed."""

import structlog

from sluice.contracts.access.access import Role
from sluice.contracts.access.device_login import (
    DeviceAnswer,
)
from sluice.contracts.access.people import NewToken
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.rows import record_unauthenticated_request
from sluice.servicekit.database import Connection
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import device_logins
from wfms.operator.identity.db.people import find_person
from wfms.operator.identity.domain.errors import (
    DeviceLoginRefused,
    DeviceLoginUnknown,
)
from wfms.operator.identity.usecases.tokens.token_creation import create_token_in_transaction

log = structlog.get_logger(__name__)


async def take_device_token(context: OperatorContext, device_code: str) -> DeviceAnswer:
    """Return the token of an allowed login once, or an empty answer while nobody has decided.

    Raises:
        DeviceLoginUnknown: There is no such login.
        DeviceLoginRefused: The login was refused, or the account is disabled.
        TooManyTokens: The person has the maximum number of tokens.
    """
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        login = await device_logins.lock_login(connection, device_code)
        if login is None:
            raise DeviceLoginUnknown()
        if login.person is None:
            return DeviceAnswer()
        person = await _get_current_person(connection, login.person, login.role)
        token = await create_token_in_transaction(
            connection, NewToken(label=login.label), by=person
        )
        await device_logins.delete_login(connection, device_code)
        await record_unauthenticated_request(
            connection, person.name, "lets a command in by a browser", role=person.role
        )
    log.info("device_login.taken", person=person.name, role=person.role)
    return DeviceAnswer(given=token)


async def _get_current_person(connection: Connection, name: str, role: Role | None) -> Person:
    """Return the person with their current role and groups.

    Raises:
        DeviceLoginRefused: The login was refused, or the account is disabled.
    """
    account = await find_person(connection, name)
    if role is None or (account is not None and account.disabled_at is not None):
        raise DeviceLoginRefused()
    if account is None:  # the owner of the system needs no account
        return Person(name, role)
    return Person(name, role.least(account.role), tuple(account.groups))
