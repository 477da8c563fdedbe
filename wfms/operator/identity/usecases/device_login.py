"""Sign-in of commands through a browser on any machine: device authorization grant (RFC 8628)."""

import math
import secrets
import time
from datetime import timedelta

import structlog
from limits import RateLimitItem, RateLimitItemPerMinute
from pydantic import SecretStr

from sluice.contracts.access.access import Role
from sluice.contracts.access.device_login import (
    CODE_LENGTH,
    CODE_LETTERS,
    DeviceAnswer,
    DeviceLogin,
    NewDeviceLogin,
    format_code,
    parse_code,
)
from sluice.contracts.access.people import NewToken
from sluice.servicekit.access.principal import Person
from sluice.servicekit.audit.request import add_audit_facts, current_address
from sluice.servicekit.audit.rows import record_unauthenticated_request
from sluice.servicekit.database import Connection
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import device_logins
from wfms.operator.identity.db.device_logins import DeviceLoginRow
from wfms.operator.identity.db.people import find_person
from wfms.operator.identity.domain.errors import (
    DeviceLoginRefused,
    DeviceLoginUnknown,
    InsufficientRole,
    TooManyDeviceLogins,
)
from wfms.operator.identity.usecases.create_token import create_token_in_transaction
from wfms.operator.identity.usecases.sign_in import address_block

#: The page where people allow or refuse a device login.
PAGE = "/device"
#: How long a login waits, and the interval at which the command polls.
_LIFE, _INTERVAL = timedelta(minutes=10), timedelta(seconds=2)
#: Limits in five minutes: logins that start from an address and in total, and wrong codes of a
#: person. Of 2.6 * 10^10 codes at most 600 wait at a time.
ADDRESS_LIMIT, TOTAL_LIMIT = RateLimitItemPerMinute(30, 5), RateLimitItemPerMinute(300, 5)
WRONG_CODE_LIMIT = RateLimitItemPerMinute(20, 5)
_EVERYBODY = "everybody"

log = structlog.get_logger(__name__)


async def begin_device_login(context: OperatorContext, new: NewDeviceLogin) -> DeviceLogin:
    """Start a device login, which waits for ten minutes.

    Raises:
        TooManyDeviceLogins: A rate limit is exceeded.
    """
    remote = current_address()
    await _count_try(context, ADDRESS_LIMIT, address_block(remote))
    await _count_try(context, TOTAL_LIMIT, _EVERYBODY)
    device_code = secrets.token_urlsafe(32)
    async with context.database.transaction() as transaction:
        await device_logins.forget_ended_logins(transaction.connection)
        letters = _new_code()
        while not await device_logins.insert_login(
            transaction.connection,
            device_code,
            letters,
            label=new.label,
            remote=remote,
            life=_LIFE,
        ):
            letters = _new_code()
    code = format_code(letters)
    return DeviceLogin(
        device_code=SecretStr(device_code),
        user_code=code,
        verification_uri=PAGE,
        verification_uri_complete=f"{PAGE}?code={code}",
        expires_in=int(_LIFE.total_seconds()),
        interval=int(_INTERVAL.total_seconds()),
    )


async def get_pending_device_login(
    context: OperatorContext, code: str, *, by: Person
) -> DeviceLoginRow:
    """Return the pending login that shows the code that a person typed.

    Raises:
        DeviceLoginUnknown: No pending login has this code.
        TooManyDeviceLogins: The person typed too many wrong codes.
    """
    # Before the code is looked up: otherwise a person could guess until a code is found.
    if not await context.device_login_tries.test(WRONG_CODE_LIMIT, by.name):
        raise await _too_many_codes(context, WRONG_CODE_LIMIT, by.name)
    async with context.database.connection() as connection:
        letters = parse_code(code)
        login = letters and await device_logins.find_undecided_login(connection, letters)
    if not login:
        await _count_try(context, WRONG_CODE_LIMIT, by.name)
        raise DeviceLoginUnknown()
    return login


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
        person = await _read_current_person(connection, login.person, login.role)
        token = await create_token_in_transaction(
            connection, NewToken(label=login.label), by=person
        )
        await device_logins.delete_login(connection, device_code)
        await record_unauthenticated_request(
            connection, person.name, "lets a command in by a browser", role=person.role
        )
    log.info("device_login.taken", person=person.name, role=person.role)
    return DeviceAnswer(given=token)


async def _count_try(context: OperatorContext, limit: RateLimitItem, key: str) -> None:
    if not await context.device_login_tries.hit(limit, key):
        raise await _too_many_codes(context, limit, key)


async def _too_many_codes(
    context: OperatorContext, limit: RateLimitItem, key: str
) -> TooManyDeviceLogins:
    window = await context.device_login_tries.get_window_stats(limit, key)
    return TooManyDeviceLogins(max(1, math.ceil(window.reset_time - time.time())))


async def _read_current_person(connection: Connection, name: str, role: Role | None) -> Person:
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


def _new_code() -> str:
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
