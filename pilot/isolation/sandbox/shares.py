"""Shares of the kernel's limits for a user, which all slots have in common.

No slot can take more than its share. The functions raise ``OSError``.
"""

import resource
from contextlib import suppress

from pilot.isolation.sandbox.kernel import mount_terminals

#: Counters for each user of a user namespace, the file with the node's limit for the user, and the
#: minimum for a slot.
_COUNTERS = (
    ("max_inotify_instances", "fs/inotify/max_user_instances", 4),
    ("max_inotify_watches", "fs/inotify/max_user_watches", 64),
)
#: Limits and their minimum: pending signals (each timer needs one), and bytes in POSIX message
#: queues. A queue of default size takes 82 000 bytes.
_LIMITS = ((resource.RLIMIT_SIGPENDING, 256), (resource.RLIMIT_MSGQUEUE, 1 << 17))
_MIN_TERMINALS = 4


def take_share(slots: int) -> None:
    """Limit this process's user namespace and its processes to a share.

    The process must have full rights in its own user namespace. ``slots`` slots share the limits,
    and one more share is left for other processes of the user. Further user namespaces are
    forbidden.
    """
    shares = slots + 1
    for name, limit_file, minimum in _COUNTERS:
        with suppress(FileNotFoundError):  # The kernel lacks this counter.
            _write_setting(f"user/{name}", max(minimum, _read_setting(limit_file) // shares))
    _write_setting("user/max_user_namespaces", 0)
    for number, minimum in _LIMITS:
        _, hard = resource.getrlimit(number)
        if hard != resource.RLIM_INFINITY:
            share = min(hard, max(minimum, hard // shares))
            resource.setrlimit(number, (share, share))
    terminals = _read_setting("kernel/pty/max") - _read_setting("kernel/pty/reserve")
    mount_terminals(max(_MIN_TERMINALS, terminals // shares))


def _read_setting(name: str) -> int:
    with open(f"/proc/sys/{name}") as file:
        return int(file.read())


def _write_setting(name: str, value: int) -> None:
    with open(f"/proc/sys/{name}", "w") as file:
        file.write(str(value))
