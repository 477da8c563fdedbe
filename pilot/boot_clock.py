"""The clock of leases and durations on a node."""

import time


def boot_time() -> float:
    """Return the seconds since the start of the machine, the same in all processes.

    The clock includes the time of a suspended machine, as leases at the WMS do.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME)
