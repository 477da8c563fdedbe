"""The clock of leases and durations on a node."""

import time


def tick() -> float:
    """Seconds since the machine was started, the same in all its processes; it also runs while the
    machine sleeps, as the leases at the WMS do."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
