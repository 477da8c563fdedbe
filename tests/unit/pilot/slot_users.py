"""Provide users for slots in tests: unused user numbers that root can become, and folders that
these users can enter."""

import itertools
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pilot.isolation.users.slot_user import SlotUser
from tests.unit.pilot.slot_runner import Runner

_numbers = itertools.count(61_001)
#: Sockets that claim the users of this process until it ends.
_claims: list[socket.socket] = []


def make_user(processes: int = 4096) -> SlotUser:
    """Return a user that no other test on this machine has, not even in another run. Slots end all
    processes of their users."""
    for uid in _numbers:
        claim = socket.socket(socket.AF_UNIX)
        with suppress(OSError):
            claim.bind(f"\0sluice-tests-user-{uid}")
            _claims.append(claim)
            return SlotUser(name=str(uid), uid=uid, gid=uid, processes=processes)
        claim.close()
    raise AssertionError("numbers never end")


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that all users can enter. They cannot enter the folders of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-users-", dir="/var/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


#: Runs the command in its arguments with an additional group.
_WITH_GROUP = "import os, sys; os.setgroups([61000]); os.execv(sys.argv[1], sys.argv[1:])"


def start_slot_as_users(folder: Path, users: list[SlotUser], **environment: str) -> Runner:
    """Start a slot whose tools run as the first of the users. ``folder`` comes from
    ``open_folder``."""
    runner = Runner(
        folder,
        environment={"PYTHONPATH": os.getcwd(), **environment},
        before=[sys.executable, "-c", _WITH_GROUP],
        settings={"users": users, "no_sandbox": "there is none in this test"},
    )
    open_run_folder(runner)
    return runner


def open_run_folder(runner: Runner) -> None:
    """Let users enter the run folder, as the pilot does before it starts its slots."""
    runner.run.let_users_pass()
    runner.run.path.parent.chmod(0o711)
