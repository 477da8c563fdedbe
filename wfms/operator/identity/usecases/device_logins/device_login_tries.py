"""Limits of the attempts to sign in through a browser."""

import math
import time

from limits import RateLimitItem

from wfms.operator.context import OperatorContext
from wfms.operator.identity.domain.errors import (
    TooManyDeviceLogins,
)


async def count_try(context: OperatorContext, limit: RateLimitItem, key: str) -> None:
    """Count an attempt.

    Raises:
        TooManyDeviceLogins: A rate limit is exceeded.
    """
    if not await context.device_login_tries.hit(limit, key):
        raise await too_many_tries(context, limit, key)


async def too_many_tries(
    context: OperatorContext, limit: RateLimitItem, key: str
) -> TooManyDeviceLogins:
    """Return the error for an exceeded limit, with the seconds until the next attempt."""
    window = await context.device_login_tries.get_window_stats(limit, key)
    return TooManyDeviceLogins(max(1, math.ceil(window.reset_time - time.time())))
