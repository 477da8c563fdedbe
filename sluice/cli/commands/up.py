"""`sluice up`, `down`, `status`: the embedded system as a process."""

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import httpx
import typer

from sluice.cli.connection import DEFAULT_HOME, HomeOption, JsonOption, plain_errors
from sluice.cli.output import answer, err, out, print_json
from sluice.contracts.numbers import counted
from sluice.embedded.home import Home, RunningSystem
from sluice.servicekit.processes import lives
from sluice.trust import trust

#: Seconds a detached system gets to become ready, and to stop once it waits for nothing.
START_LIMIT, STOP_LIMIT = 60.0, 60.0
#: Variable with the id of a process that a system ends with, at once: who starts one for itself
#: leaves none behind.
END_WITH = "SLUICE_END_WITH"
#: Seconds between two looks at a system that stops, and at what it waits for.
_LOOK, _ASK = 0.05, 2.0
#: What the last sentence of a command that failed begins with.
_ERROR = "error: "

PortOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=65_535,
        envvar="SLUICE_PORT",
        help="Port of the web page and of all services; 0: any free one.",
    ),
]
PilotsOption = Annotated[int, typer.Option(min=0, help="Pilots to start.")]
RootsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--storage-root",
        help="Folder (or URL) in which storages may lie besides the home folder; may be repeated.",
    ),
]
SlotsOption = Annotated[
    int,
    typer.Option(min=0, help="Jobs a pilot runs at once; 0: the cores, shared among the pilots."),
]
DrainOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        envvar="SLUICE_DRAIN_TIMEOUT",
        metavar="SECONDS",
        help=(
            "For running jobs to end when it is told to stop; then they are handed back. Without"
            " it, as long as they take."
        ),
    ),
]
NowOption = Annotated[
    bool,
    typer.Option("--now", help="Do not wait for running jobs: hand them back, to be run again."),
]


def up(  # noqa: PLR0913 - a command's options, each by its name
    *,
    home: HomeOption = DEFAULT_HOME,
    port: PortOption = 8080,
    pilots: PilotsOption = 1,
    slots: SlotsOption = 0,
    storage_root: RootsOption = None,
    detach: Annotated[
        bool,
        typer.Option("--detach", help="Return when it is ready; it goes on in the background."),
    ] = False,
    drain_timeout: DrainOption = None,
    log_level: Annotated[str, typer.Option(help="DEBUG, INFO, WARNING or ERROR.")] = "INFO",
) -> None:
    """Start everything on this machine: database, services, web page, pilots. Ctrl-C or SIGTERM
    stops it, when the jobs that run have ended; a second one at once."""
    place = Home(home)
    running = place.running()
    if running is not None:
        out.print(f"Sluice already runs at {running.url} (process {running.pid})")
        return
    roots = [
        root if "://" in root else str(Path(root).expanduser().absolute())
        for root in storage_root or []
    ]
    if detach:
        options = [
            "--port",
            str(port),
            "--pilots",
            str(pilots),
            "--slots",
            str(slots),
            "--log-level",
            log_level,
        ]
        options += [] if drain_timeout is None else ["--drain-timeout", str(drain_timeout)]
        options += [word for root in roots for word in ("--storage-root", root)]
        started = plain_errors(lambda: start_detached(place, options))
        out.print(f"Sluice is ready at {started.url} (stop it with `sluice down`)")
        return
    import uvloop  # noqa: PLC0415 - a client alone needs no server's event loop

    from sluice.embedded.system import (  # noqa: PLC0415 - imports every service
        Conduct,
        EmbeddedSystem,
        Options,
        run_until_signal,
    )

    share = max(1, (os.cpu_count() or 1) // max(pilots, 1))
    system = EmbeddedSystem(
        place, Options(port=port, pilots=pilots, slots=slots or share, storage_roots=roots)
    )
    conduct = Conduct(
        on_ready=lambda url: out.print(f"Sluice is ready at {url}"),
        on_wait=lambda jobs: err.print(f"{_waiting(jobs)} (Ctrl-C once more hands them back)"),
        log_level=log_level,
        drain_timeout=drain_timeout,
        end_with=int(os.environ[END_WITH]) if END_WITH in os.environ else None,
    )
    plain_errors(lambda: uvloop.run(run_until_signal(system, conduct)))


def down(
    *, home: HomeOption = DEFAULT_HOME, now: NowOption = False, as_json: JsonOption = False
) -> None:
    """Stop the embedded system: running jobs are waited for (Ctrl-C hands them back, to be run
    again), everything else waits in the database. What a killed system has left running is ended,
    too. Exits 1 when something goes on all the same."""
    place = Home(home)
    owner = place.owner()
    if owner is not None:
        plain_errors(lambda: stop(owner) if now else drain(owner, err.print))
    from sluice.embedded.remains import end_remains  # noqa: PLC0415 - the command alone needs it

    left, going = end_remains(place)
    said = [] if owner is None else ["stopped"]
    said += [
        f"ended {process}, which a killed system had left"
        for process in left
        if process not in going
    ]
    said += [f"{process} cannot be stopped" for process in going]
    value = {
        "stopped": bool(said) and not going,
        "left": list(map(str, left)),
        "going_on": list(map(str, going)),
    }
    answer(value, "\n".join(said) or f"no system runs in {home}", as_json=as_json)
    if going:
        raise typer.Exit(1)


def status(*, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Does the embedded system run, where, and is every part of it ready? Exits 1 when not."""
    running = Home(home).running()
    if running is None:
        if as_json:
            print_json({"running": False})
        else:
            out.print(f"no system runs in {home}")
        raise typer.Exit(1)
    ready = httpx.get(f"{running.url}/system/readyz", timeout=10, verify=trust(running.url))
    if as_json:
        print_json({"running": True, "url": running.url, "pid": running.pid, "ready": ready.json()})
    else:
        out.print(
            f"Sluice runs at {running.url} (process {running.pid}, since {running.started_at})"
        )
        for name, state in ready.json().items():
            out.print(f"  {name}: {state}")
    if ready.status_code != httpx.codes.OK:
        raise typer.Exit(1)


def start_detached(home: Home, options: list[str], *, ours: bool = False) -> RunningSystem:
    """Starts `sluice up` as a process of its own and waits until it is ready; ``OSError`` with the
    end of its log if not. ``ours``: it does not outlive this process."""
    home.logs.mkdir(parents=True, exist_ok=True)
    log = home.logs / "system.log"
    before = log.stat().st_size if log.exists() else 0
    arguments = [sys.executable, "-m", "sluice.cli", "up", "--home", str(home.root), *options]
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    environment = {**os.environ, END_WITH: str(os.getpid())} if ours else os.environ
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


def stop(owner: RunningSystem) -> None:
    """What runs is handed back. Waits until the process has gone; ``OSError`` when it has not after
    ``STOP_LIMIT`` seconds."""
    for number in (signal.SIGTERM, signal.SIGINT):  # two of a kind could become one on the way
        os.kill(owner.pid, number)
    deadline = time.monotonic() + STOP_LIMIT
    while _goes_on(owner.pid):
        if time.monotonic() > deadline:
            raise OSError(f"process {owner.pid} did not stop within {STOP_LIMIT:.0f} s")
        time.sleep(_LOOK)


def drain(owner: RunningSystem, tell: Callable[[str], None]) -> None:
    """Waits for the jobs that run, and tells of them; after Ctrl-C as ``stop``."""
    os.kill(owner.pid, signal.SIGTERM)
    told = 0
    asked = time.monotonic()
    try:
        while _goes_on(owner.pid):
            if time.monotonic() - asked > _ASK:
                jobs = _jobs_at_work(owner.url)
                if jobs and jobs != told:
                    told = jobs
                    tell(f"{_waiting(jobs)} (Ctrl-C, or `sluice down --now`, hands them back)")
                asked = time.monotonic()
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        tell("handing back what runs …")
        stop(owner)


def _jobs_at_work(url: str) -> int:
    """That pilots have now; 0 where nobody can tell."""
    try:
        pilots = (
            httpx.get(f"{url}/services/wms/api/v1/pilots", timeout=_ASK, verify=trust(url))
            .raise_for_status()
            .json()
        )
        return sum(pilot["leased"] + pilot["running"] for pilot in pilots["pilots"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError):
        return 0


def _waiting(jobs: int) -> str:
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
