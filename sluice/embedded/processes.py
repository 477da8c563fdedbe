"""Whether a process lives."""

import os
from contextlib import suppress


def lives(pid: int) -> bool:
    """A zombie is dead: its parent has yet to notice, and some never do. Where zombies cannot be told, they live."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        pass
    with suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return True
