"""Whether any process of this machine lives, and when it ends. It need not be a child."""

import asyncio
import os
from contextlib import suppress


def lives(pid: int) -> bool:
    """Return whether a process lives.

    A zombie counts as dead: its parent has yet to notice, and some parents never do. Without
    ``/proc``, zombies cannot be recognized and count as alive.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # the process belongs to another user
        pass
    with suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return True


async def until_ended(pid: int) -> None:
    """Wait until a process has ended or is a zombie."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(handle, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(handle)
        os.close(handle)
