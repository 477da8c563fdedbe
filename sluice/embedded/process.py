"""The embedded system as a separate process: its start in the background and its stop."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx

from sluice.contracts.common.numbers import format_count
from sluice.embedded.home import PRIVATE, Home, RunningSystem
from sluice.embedded.home_space import has_no_space, no_space_text
from sluice.embedded.users import SystemUser
from sluice.network.credentials import headers_for
from sluice.network.http_clients import send_request
from sluice.process.signals import send_signal
from sluice.servicekit.running.processes import lives

#: Seconds for a detached system to start, to stop before it is killed, and to stop if the user
#: wants it at once.
START_LIMIT, STOP_LIMIT, STOP_LIMIT_NOW = 180.0, 60.0, 5.0
#: Variable that makes a system stop when its last user ends (``users``).
WHILE_USED = "SLUICE_WHILE_USED"
#: Seconds between two checks of a process, and between two requests for the number of its jobs.
_POLL_PAUSE, _COUNT_PAUSE = 0.05, 2.0
#: The prefix of the last message of a failed command.
_ERROR = "error: "


def start_detached(
    home: Home,
    options: list[str],
    *,
    ends_with_us: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> RunningSystem:
    """Start `sluice up` as a separate process and return when it is ready.

    If another user is starting a system there, the function waits for that one.

    Args:
        home: The home folder.
        options: Further options of the command.
        ends_with_us: The system ends with this process unless others use it then.
        settings: Variables of the system's environment.

    Raises:
        OSError: The system does not start. The message has its reason.
    """
    if ends_with_us:
        user = SystemUser(home)
        user.join()
        _joined_users.append(user)
    return _start(home, options, settings, while_used=ends_with_us)


#: The memberships in systems that this process keeps until it ends.
_joined_users: list[SystemUser] = []


def _start(
    home: Home, options: list[str], settings: Mapping[str, str], *, while_used: bool
) -> RunningSystem:
    home.logs.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    log = home.logs / "system.log"
    before = log.stat().st_size if log.exists() else 0
    arguments = [sys.executable, "-m", "sluice.cli", "up", "--home", str(home.root), *options]
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    environment = {**os.environ, **settings, WHILE_USED: str(int(while_used))}
    pid = os.posix_spawn(sys.executable, arguments, environment, file_actions=files, setsid=True)
    ended = False
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        running = home.running()
        if running is not None:
            return running
        ended = ended or os.waitpid(pid, os.WNOHANG)[0] == pid
        if ended and home.owner() is None:
            break
        time.sleep(_POLL_PAUSE)
    if not ended:
        os.kill(pid, signal.SIGTERM)
    raise OSError(_read_failure_reason(log, before))


@dataclass(frozen=True, slots=True)
class SharedSystem:
    """A ready system. ``started`` says that ``use_or_start_system`` started it for this user."""

    running_system: RunningSystem
    started: bool

    @property
    def url(self) -> str:
        """Return the address of the system."""
        return self.running_system.url


@contextmanager
def use_or_start_system(
    home: Home,
    *options: str,
    on_start: Callable[[], None] = lambda: None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[SharedSystem]:
    """Use the system of a home folder, and start one if none runs.

    A system that was started here stops when its last user ends, no matter who started it.

    Args:
        home: The home folder.
        *options: Further options of `sluice up`.
        on_start: Called before a system is started.
        settings: Variables of the environment of a system that is started.

    Raises:
        OSError: No system runs there, and none can be started.
    """
    user = SystemUser(home)
    user.join()
    started = False
    try:
        running = home.running()
        if running is None:
            started = True
            on_start()
            running = _start(home, ["--port", "0", *options], settings, while_used=True)
        yield SharedSystem(running, started)
    finally:
        # If the lock is not available, others use the system. It then stops after the last of them.
        if started and user.is_alone() and (owner := home.owner()) is not None:
            stop_system(owner)
        user.leave()


def stop_system(owner: RunningSystem, *, limit: float = STOP_LIMIT) -> None:
    """Stop a system, whose jobs are handed back, and return when its process has ended.

    A process that still runs after ``limit`` seconds is killed. Nothing is lost then: jobs return
    when their leases end, and the database recovers at its next start.
    """
    for number in (signal.SIGTERM, signal.SIGINT):  # two equal signals could arrive as one
        send_signal(owner.pid, number)
    deadline = time.monotonic() + limit
    while _is_running(owner.pid):
        if time.monotonic() > deadline:
            send_signal(owner.pid, signal.SIGKILL)
        time.sleep(_POLL_PAUSE)


def drain_system(owner: RunningSystem, tell: Callable[[str], None]) -> None:
    """Stop a system after its running jobs, and report their number.

    After Ctrl-C it stops at once as in ``stop_system``.
    """
    send_signal(owner.pid, signal.SIGTERM)
    announced = 0
    checked_at = time.monotonic()
    try:
        while _is_running(owner.pid):
            if time.monotonic() - checked_at > _COUNT_PAUSE:
                jobs = _jobs_at_work(owner.url)
                if jobs and jobs != announced:
                    announced = jobs
                    tell(f"{waiting_text(jobs)} (Ctrl-C, or `sluice down --now`, hands them back)")
                checked_at = time.monotonic()
            time.sleep(_POLL_PAUSE)
    except KeyboardInterrupt:
        tell("handing back what runs …")
        stop_system(owner)


def _jobs_at_work(url: str) -> int:
    """Return the number of jobs that pilots have now, or 0 if it is unknown."""
    try:
        pilots = (
            send_request(
                "GET",
                f"{url}/services/wms/api/v1/pilots",
                timeout=_COUNT_PAUSE,
                headers=headers_for(url),
            )
            .raise_for_status()
            .json()
        )
        return sum(pilot["leased"] + pilot["running"] for pilot in pilots["pilots"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError):
        return 0


def waiting_text(jobs: int) -> str:
    """Return a message about the jobs that a stopping system waits for."""
    return f"waiting for {format_count(jobs, 'job')} to end"


def _is_running(pid: int) -> bool:
    with suppress(ChildProcessError):  # another process's child is not ours to reap
        os.waitpid(pid, os.WNOHANG)
    return lives(pid)


def _read_failure_reason(log: Path, begin: int) -> str:
    """Return why a system did not start: its own error since ``begin``, or the end of its log."""
    with log.open(errors="replace") as file:
        file.seek(begin)
        lines = file.read().splitlines()
    own = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
    if not own and has_no_space(log.parent):
        return no_space_text(log.parent.parent)
    return (
        own[-1]
        if own
        else "\n".join([f"the system did not start; the end of {log}:", *lines[-15:]])
    )
