"""A system that a command started runs as long as a process uses it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sluice.embedded.home import Home
from sluice.embedded.process import start_detached
from sluice.servicekit.running.processes import lives
from tests.e2e.commands import run_sluice
from tests.e2e.systems import NO_CONTAINERS, open_home_folder
from tests.servers.running_processes import list_processes_below
from tests.waiting import wait_until

#: Uses the system of a home folder until the input ends.
USER = """
import sys
from pathlib import Path
from sluice.embedded.home import Home
from sluice.embedded.process import use_or_start_system
with use_or_start_system(Home(Path(sys.argv[1])), "--pilots", "0") as used:
    print(used.running_system.pid, used.started, flush=True)
    sys.stdin.read()
"""


class User:
    """A process that uses the system of a home folder."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def system(self) -> tuple[int, bool]:
        """Return the system's process, and whether it was started for this user."""
        assert self.process.stdout is not None
        pid, started = self.process.stdout.readline().split()
        return int(pid), started == "True"

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, value in NO_CONTAINERS.items():
        monkeypatch.setenv(name, value)
    with open_home_folder() as folder:
        yield folder


def test_concurrent_users_share_a_system_until_the_last_user_leaves(home: Path) -> None:
    """The first user to leave may be the one that started the system, and a user may be killed."""
    with ExitStack() as ends:
        users = [User(home) for _ in range(4)]
        for user in users:
            ends.callback(user.kill)
        pid, _ = users[0].system()
        starters = []
        for user in users[1:]:
            other, started = user.system()
            assert other == pid
            if started:
                starters.append(user)
        order = sorted(users, key=lambda user: user not in starters)
        for user in order[:2]:
            user.leave()
            assert lives(pid)
        order[2].kill()
        assert lives(pid)
        order[3].kill()
        wait_until(lambda: not lives(pid), what="the system has ended", seconds=60)
    assert Home(home).owner() is None


def test_system_stops_when_its_home_is_removed(home: Path) -> None:
    """The system releases its port, too."""
    running = start_detached(Home(home), ["--port", "0", "--pilots", "0"])
    port = int(running.url.rpartition(":")[2])
    shutil.rmtree(home)
    wait_until(lambda: not lives(running.pid), what="the system has ended", seconds=60)
    socket.create_server(("127.0.0.1", port)).close()
    assert list_processes_below(home) == []


def test_down_now_ends_a_frozen_system(home: Path) -> None:
    running = start_detached(Home(home), ["--port", "0", "--pilots", "1"])
    os.kill(running.pid, signal.SIGSTOP)
    done = run_sluice("down", "--now", "--home", str(home))
    assert done.stdout.startswith("stopped\n")
    assert not lives(running.pid)
    assert list_processes_below(home) == []
