"""Users for slots in tests: numbers that exist nowhere, which root can become, and folders that
they can get to."""

import itertools
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pilot.users.slot_user import SlotUser
from tests.unit.pilot.slot_runner import Runner

_numbers = itertools.count(61_001)
#: Sockets that keep other processes from the users of this one, until it ends.
_claims: list[socket.socket] = []


def new_user(processes: int = 4096) -> SlotUser:
    """That no other test of this machine has, also of other runs: slots end all processes of their
    users."""
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
    """That everybody can go through, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-users-", dir="/var/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


#: Becomes the command in its arguments, with a group more.
_WITH_GROUP = "import os, sys; os.setgroups([61000]); os.execv(sys.argv[1], sys.argv[1:])"


def start(folder: Path, users: list[SlotUser], **environment: str) -> Runner:
    """A slot whose tools run as the first of the users. ``folder``: as of ``open_folder``."""
    runner = Runner(
        folder,
        environment={"PYTHONPATH": os.getcwd(), **environment},
        before=[sys.executable, "-c", _WITH_GROUP],
        settings={"users": users, "no_sandbox": "there is none in this test"},
    )
    let_pass(runner)
    return runner


def let_pass(runner: Runner) -> None:
    """As the pilot does it before it starts its slots."""
    runner.run.let_users_pass()
    runner.run.path.parent.chmod(0o711)
