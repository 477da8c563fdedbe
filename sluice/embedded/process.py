"""The embedded system as a process of its own: started in the background, told to stop."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import httpx

from sluice.contracts.numbers import counted
from sluice.credentials import headers_for
from sluice.embedded.home import PRIVATE, Home, RunningSystem
from sluice.http_clients import send_request
from sluice.servicekit.processes import lives

#: Seconds a detached system gets to become ready, and to stop once it waits for nothing.
START_LIMIT, STOP_LIMIT = 60.0, 60.0
#: Variable with the id of a process that a system ends with, at once: who starts one for itself
#: leaves none behind.
END_WITH = "SLUICE_END_WITH"
#: Seconds between two looks at a system that stops, and at what it waits for.
_LOOK, _ASK = 0.05, 2.0
#: What the last sentence of a command that failed begins with.
_ERROR = "error: "


def start_detached(
    home: Home,
    options: list[str],
    *,
    ours: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> RunningSystem:
    """Starts `sluice up` as a process of its own and waits until it is ready; ``OSError`` with the
    end of its log if not. ``ours``: it does not outlive this process. ``settings``: variables of
    its environment."""
    home.logs.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    log = home.logs / "system.log"
    before = log.stat().st_size if log.exists() else 0
    arguments = [sys.executable, "-m", "sluice.cli", "up", "--home", str(home.root), *options]
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    own = {END_WITH: str(os.getpid())} if ours else {}
    environment = {**os.environ, **settings, **own}
    pid = os.posix_spawn(sys.executable, arguments, environment, file_actions=files, setsid=True)
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        running = home.running()
        if running is not None:
            return running
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            break
        time.sleep(0.05)
    else:
        os.kill(pid, signal.SIGTERM)
    raise OSError(_reason(log, before))


@contextmanager
def system_of_ours(home: Home, *options: str, **settings: str) -> Iterator[RunningSystem]:
    """A system that is ready, started for the caller alone: it is stopped at the end, and does not
    outlive this process. ``settings``: variables of its environment. Raises ``OSError``."""
    running = start_detached(home, ["--port", "0", *options], ours=True, settings=settings)
    try:
        yield running
    finally:
        stop_system(running)


def stop_system(owner: RunningSystem) -> None:
    """What runs is handed back. Waits until the process has gone; ``OSError`` when it has not after
    ``STOP_LIMIT`` seconds."""
    for number in (signal.SIGTERM, signal.SIGINT):  # two of a kind could become one on the way
        os.kill(owner.pid, number)
    deadline = time.monotonic() + STOP_LIMIT
    while _goes_on(owner.pid):
        if time.monotonic() > deadline:
            raise OSError(f"process {owner.pid} did not stop within {STOP_LIMIT:.0f} s")
        time.sleep(_LOOK)


def drain_system(owner: RunningSystem, tell: Callable[[str], None]) -> None:
    """Waits for the jobs that run, and tells of them; after Ctrl-C as ``stop``."""
    os.kill(owner.pid, signal.SIGTERM)
    announced = 0
    asked = time.monotonic()
    try:
        while _goes_on(owner.pid):
            if time.monotonic() - asked > _ASK:
                jobs = _jobs_at_work(owner.url)
                if jobs and jobs != announced:
                    announced = jobs
                    tell(f"{waiting_text(jobs)} (Ctrl-C, or `sluice down --now`, hands them back)")
                asked = time.monotonic()
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        tell("handing back what runs …")
        stop_system(owner)


def _jobs_at_work(url: str) -> int:
    """That pilots have now; 0 where nobody can tell."""
    try:
        pilots = (
            send_request(
                "GET",
                f"{url}/services/wms/api/v1/pilots",
                timeout=_ASK,
                headers=headers_for(url),
            )
            .raise_for_status()
            .json()
        )
        return sum(pilot["leased"] + pilot["running"] for pilot in pilots["pilots"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError):
        return 0


def waiting_text(jobs: int) -> str:
    """What a system that stops waits for, in words."""
    return f"waiting for {counted(jobs, 'job')} to end"


def _goes_on(pid: int) -> bool:
    with suppress(ChildProcessError):  # another's child: it is not for us to bury
        os.waitpid(pid, os.WNOHANG)
    return lives(pid)


def _reason(log: Path, begin: int) -> str:
    """Why a system did not start: its own sentence in what it has written since ``begin``, else the
    end of that."""
    with log.open(errors="replace") as file:
        file.seek(begin)
        said = file.read().splitlines()
    own = [line.removeprefix(_ERROR) for line in said if line.startswith(_ERROR)]
    return (
        own[-1] if own else "\n".join([f"the system did not start; the end of {log}:", *said[-15:]])
    )
