"""`sluice up`, `down`, `status`: the embedded system as a process."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import httpx
import typer

from sluice.cli.connect import DEFAULT_HOME, HomeOption, JsonOption, plain_errors
from sluice.cli.output import answer, out, print_json
from sluice.embedded.home import Home, RunningSystem
from sluice.embedded.processes import lives
from sluice.trust import trust

#: Seconds a detached system gets to become ready, and to stop.
START_LIMIT, STOP_LIMIT = 60.0, 30.0

PortOption = Annotated[int, typer.Option(envvar="SLUICE_PORT", help="Port of the web page and of all services; 0: any free one.")]
PilotsOption = Annotated[int, typer.Option(min=0, help="Pilots to start.")]
SlotsOption = Annotated[int, typer.Option(min=0, help="Jobs a pilot runs at once; 0: the cores, shared among the pilots.")]


def up(
    *,
    home: HomeOption = DEFAULT_HOME,
    port: PortOption = 8080,
    pilots: PilotsOption = 1,
    slots: SlotsOption = 0,
    detach: Annotated[bool, typer.Option("--detach", help="Return when it is ready; it goes on in the background.")] = False,
    log_level: Annotated[str, typer.Option(help="DEBUG, INFO, WARNING or ERROR.")] = "INFO",
) -> None:
    """Start everything on this machine: database, services, web page, pilots. Ctrl-C or SIGTERM stops it."""
    place = Home(home)
    running = place.running()
    if running is not None:
        out.print(f"Sluice already runs at {running.url} (process {running.pid})")
        return
    if detach:
        options = ["--port", str(port), "--pilots", str(pilots), "--slots", str(slots), "--log-level", log_level]
        started = plain_errors(lambda: start_detached(place, options))
        out.print(f"Sluice is ready at {started.url} (stop it with `sluice down`)")
        return
    import uvloop  # noqa: PLC0415 - a client alone needs no server's event loop

    from sluice.embedded.system import EmbeddedSystem, Options, run_until_signal  # noqa: PLC0415 - imports every service

    share = max(1, (os.cpu_count() or 1) // max(pilots, 1))
    system = EmbeddedSystem(place, Options(port=port, pilots=pilots, slots=slots or share))

    def serve() -> None:
        uvloop.run(run_until_signal(system, on_ready=lambda url: out.print(f"Sluice is ready at {url}"), log_level=log_level))

    plain_errors(serve)


def down(*, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Stop the embedded system: pilots finish what they have, everything else waits in the database."""
    running = Home(home).running()
    if running is not None:
        plain_errors(lambda: stop(running))
    answer({"stopped": running is not None}, f"no system runs in {home}" if running is None else "stopped", as_json=as_json)


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
        out.print(f"Sluice runs at {running.url} (process {running.pid}, since {running.started_at})")
        for name, state in ready.json().items():
            out.print(f"  {name}: {state}")
    if ready.status_code != httpx.codes.OK:
        raise typer.Exit(1)


def start_detached(home: Home, options: list[str]) -> RunningSystem:
    """Starts `sluice up` as a process of its own and waits until it is ready; ``OSError`` with the end of its log if not."""
    home.logs.mkdir(parents=True, exist_ok=True)
    log = home.logs / "system.log"
    arguments = [sys.executable, "-m", "sluice.cli", "up", "--home", str(home.root), *options]
    files = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    pid = os.posix_spawn(sys.executable, arguments, os.environ, file_actions=files, setsid=True)
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
    raise OSError(f"the system did not start; the end of {log}:\n{_tail(log)}")


def stop(running: RunningSystem) -> None:
    """SIGTERM, and wait until the process has gone; ``OSError`` when it has not after ``STOP_LIMIT`` seconds."""
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_LIMIT
    while time.monotonic() < deadline:
        with suppress(ChildProcessError):  # another's child: it is not for us to bury
            os.waitpid(running.pid, os.WNOHANG)
        if not lives(running.pid):
            return
        time.sleep(0.05)
    raise OSError(f"process {running.pid} did not stop within {STOP_LIMIT:.0f} s")


def _tail(path: Path, lines: int = 15) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
