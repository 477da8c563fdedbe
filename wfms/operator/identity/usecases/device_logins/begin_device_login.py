"""Begin the sign-in of a command through a browser on any machine.

Device login is the device authorization grant of RFC 8628.
"""

import secrets
from datetime import timedelta

from limits import RateLimitItemPerMinute
from pydantic import SecretStr

from sluice.contracts.access.device_login import (
    CODE_LENGTH,
    CODE_LETTERS,
    DeviceLogin,
    NewDeviceLogin,
    format_code,
)
from sluice.servicekit.audit.request import current_address
from wfms.operator.context import OperatorContext
from wfms.operator.identity.db import device_logins
from wfms.operator.identity.usecases.device_logins.device_login_tries import count_try
from wfms.operator.identity.usecases.sign_in import address_block

#: The page where people allow or refuse a device login.
PAGE = "/device"
#: How long a login waits, and the interval at which the command polls.
_LIFE, _INTERVAL = timedelta(minutes=10), timedelta(seconds=2)
#: Limits in five minutes: logins that start from an address and in total. Of 2.6 * 10^10 codes at
#: most 600 wait at a time.
ADDRESS_LIMIT, TOTAL_LIMIT = RateLimitItemPerMinute(30, 5), RateLimitItemPerMinute(300, 5)
_EVERYBODY = "everybody"


async def begin_device_login(context: OperatorContext, new: NewDeviceLogin) -> DeviceLogin:
    """Start a device login, which waits for ten minutes.

    Raises:
        TooManyDeviceLogins: A rate limit is exceeded.
    """
    remote = current_address()
    await count_try(context, ADDRESS_LIMIT, address_block(remote))
    await count_try(context, TOTAL_LIMIT, _EVERYBODY)
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


def _new_code() -> str:
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
