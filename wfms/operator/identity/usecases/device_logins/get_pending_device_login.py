"""Return the pending device login of a code."""

from limits import RateLimitItemPerMinute

from sluice.contracts.access.device_login import (
    parse_code,
)
from sluice.servicekit.access.principal import Person
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import device_logins
from wfms.operator.identity.db.device_logins import DeviceLoginRow
from wfms.operator.identity.domain.errors import (
    DeviceLoginUnknown,
)
from wfms.operator.identity.usecases.device_logins.device_login_tries import (
    count_try,
    too_many_tries,
)

#: Wrong codes of a person in five minutes.
WRONG_CODE_LIMIT = RateLimitItemPerMinute(20, 5)


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
        raise await too_many_tries(context, WRONG_CODE_LIMIT, by.name)
    async with context.database.connection() as connection:
        letters = parse_code(code)
        login = letters and await device_logins.find_undecided_login(connection, letters)
    if not login:
        await count_try(context, WRONG_CODE_LIMIT, by.name)
        raise DeviceLoginUnknown()
    return login
