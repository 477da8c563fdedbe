"""Whether a process lives, and when it ends: any of this machine, not only children."""

import asyncio
import os
from contextlib import suppress


def lives(pid: int) -> bool:
    """A zombie is dead: its parent has yet to notice, and some never do. Where zombies cannot be
    told, they live.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        pass
    with suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return True


async def until_ended(pid: int) -> None:
    """Returns when there is no such process, or only a zombie."""
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
