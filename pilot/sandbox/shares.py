"""What the kernel counts for a user, whom all slots have in common: no slot takes more than its
share, so that none is left without.

Raises ``OSError``."""

import resource
from contextlib import suppress

from pilot.sandbox.kernel import mount_terminals

#: What the kernel counts for each user in a user namespace, and where the most stands that the user
#: may have on the node; the least that a slot gets.
_COUNTED = (
    ("max_inotify_instances", "fs/inotify/max_user_instances", 4),
    ("max_inotify_watches", "fs/inotify/max_user_watches", 64),
)
#: Signals that wait, which each timer needs one of; bytes in POSIX message queues: one as programs
#: make them, if nothing else is said, takes 82 000.
_LIMITS = ((resource.RLIMIT_SIGPENDING, 256), (resource.RLIMIT_MSGQUEUE, 1 << 17))
_FEWEST_TERMINALS = 4


def take_share(slots: int) -> None:
    """In a user namespace of this process's own that is master of it: limits for all processes in
    it together, and for this process and those that it starts. ``slots``: as many share it; one
    more share is left for the user's other processes. Nobody makes further user namespaces."""
    shares = slots + 1
    for name, most, least in _COUNTED:
        with suppress(FileNotFoundError):  # a kernel without it
            _set(f"user/{name}", max(least, _setting(most) // shares))
    _set("user/max_user_namespaces", 0)
    for number, least in _LIMITS:
        _, hard = resource.getrlimit(number)
        if hard != resource.RLIM_INFINITY:
            share = min(hard, max(least, hard // shares))
            resource.setrlimit(number, (share, share))
    terminals = _setting("kernel/pty/max") - _setting("kernel/pty/reserve")
    mount_terminals(max(_FEWEST_TERMINALS, terminals // shares))


def _setting(name: str) -> int:
    with open(f"/proc/sys/{name}") as file:
        return int(file.read())


def _set(name: str, value: int) -> None:
    with open(f"/proc/sys/{name}", "w") as file:
        file.write(str(value))
