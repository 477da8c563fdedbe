"""`sluice up`, `down` and `status`: the embedded system as a process."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.errors import plain_errors
from sluice.cli.options import HomeOption, JsonOption
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_answer, print_json
from sluice.embedded.home import DEFAULT_HOME, LOCK, LOCKED, Home
from sluice.embedded.process import (
    STOP_LIMIT_NOW,
    WHILE_USED,
    drain_system,
    start_detached,
    stop_system,
    waiting_text,
)
from sluice.embedded.readiness import OK, PILOTS, PILOTS_REFUSED, read_readiness, wait_for_pilots
from sluice.embedded.unblocked_output import unblocked_output
from sluice.network.credentials import token_for

PortOption = Annotated[
    int,
    typer.Option(
        min=0,
        max=65_535,
        envvar="SLUICE_PORT",
        help="Port of the web page and of all services. 0 means any free port.",
    ),
]
PilotsOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="The number of pilots to start. Several pilots share the machine: each offers"
        " a part of its cores, memory and disk, and GPUs go to them in turn.",
    ),
]
RootsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--storage-root",
        help="Folder (or URL) in which storages may be besides the home folder. The"
        " option may be repeated.",
    ),
]
SlotsOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="The number of cores for a pilot's jobs, and so of jobs with one core at a"
        " time. 0 means SLUICE_PILOT_CORES if it is set, or the cores of the machine,"
        " shared among the pilots.",
    ),
]
DrainOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        envvar="SLUICE_DRAIN_TIMEOUT",
        metavar="SECONDS",
        help="How long a system that stops waits for running jobs, before it hands them"
        " back. The default is as long as they take.",
    ),
]
DetachOption = Annotated[
    bool,
    typer.Option(
        "--detach",
        help="Return when the system is ready, and leave it in the background. The exit"
        " status is 1 if a pilot does not start.",
    ),
]
NoAuthOption = Annotated[
    bool,
    typer.Option(
        "--no-auth",
        help="Let everyone who reaches the port do everything: all users of this machine,"
        " and all programs that they run.",
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
    detach: DetachOption = False,
    no_auth: NoAuthOption = False,
    drain_timeout: DrainOption = None,
    log_level: Annotated[str, typer.Option(help="DEBUG, INFO, WARNING or ERROR.")] = "INFO",
) -> None:
    """Start everything on this machine: database, services, web page and pilots.

    Ctrl-C or SIGTERM stops the system when the running jobs have ended, and a second one at once.
    """
    place = Home(home)
    running = plain_errors(place.running)
    if running is not None:
        out.print(f"Sluice already runs at {page_address(running.url)} (process {running.pid})")
        return
    from sluice.embedded.hidden_home import require_hidden  # noqa: PLC0415 - the command alone

    plain_errors(lambda: require_hidden(place.root))
    roots = _absolute_roots(storage_root or [])
    if detach:
        options: dict[str, object] = {"--port": port, "--pilots": pilots, "--slots": slots}
        options |= {"--log-level": log_level, "--drain-timeout": drain_timeout}
        words = _command_line_words(options, roots, no_auth=no_auth)
        plain_errors(lambda: _start_in_background(place, words))
        return
    import uvloop  # noqa: PLC0415 - a client alone needs no server's event loop

    # These modules import every service.
    from sluice.embedded.run_system import RunOptions, run_until_signal  # noqa: PLC0415
    from sluice.embedded.system import EmbeddedSystem, SystemOptions  # noqa: PLC0415
    from sluice.pilot_launchers.local_process import CORES  # noqa: PLC0415 - as the system above

    share = None if CORES in os.environ else max(1, (os.cpu_count() or 1) // max(pilots, 1))
    system = EmbeddedSystem(
        place,
        SystemOptions(port, pilots, slots or share, roots, auth=not no_auth),
        tell=lambda sentence: err.print(f"warning: {sentence}"),
    )
    terminal = sys.stdout.isatty()
    run_options = RunOptions(
        on_ready=lambda url: _say_ready(page_address(url, terminal=terminal), no_auth=no_auth),
        on_wait=lambda jobs: err.print(f"{waiting_text(jobs)} (Ctrl-C once more hands them back)"),
        log_level=log_level,
        drain_timeout=drain_timeout,
        while_used=os.environ.pop(WHILE_USED, "0") == "1",
    )
    with unblocked_output():
        plain_errors(lambda: uvloop.run(run_until_signal(system, run_options)))


def _command_line_words(
    options: Mapping[str, object], roots: Sequence[str], *, no_auth: bool
) -> list[str]:
    """Return options as words of a command line."""
    pairs = [option for option in options.items() if option[1] is not None]
    pairs += [("--storage-root", root) for root in roots]
    words = [str(word) for option in pairs for word in option]
    return [*words, "--no-auth"] if no_auth else words


def page_address(url: str, *, terminal: bool | None = None) -> str:
    """Return the address of the web page, at a terminal with the token that signs a browser in.

    Only ``isatty`` decides. With FORCE_COLOR, rich takes the log of a CI job for a terminal.

    Args:
        url: The address of the system.
        terminal: What ``isatty`` returned before the output was redirected.
    """
    at_terminal = sys.stdout.isatty() if terminal is None else terminal
    token = token_for(url) if at_terminal else None
    return url if token is None else f"{url}/?token={token}"


def _say_ready(url: str, *, no_auth: bool) -> None:
    out.print(f"Sluice is ready at {url}")
    if no_auth:
        _warn_of_no_auth(url)


def _warn_of_no_auth(url: str) -> None:
    err.print(
        f"warning: {url} requires no authentication: all users of this machine, and every program"
        " that they run, may do everything with this system, and run programs as you by it"
    )


def _start_in_background(place: Home, words: list[str]) -> None:
    """Start the system in the background, and wait for its pilots.

    Raises:
        OSError: The system does not start.
    """
    started = start_detached(place, words)
    out.print(f"Sluice is ready at {page_address(started.url)} (stop it with `sluice down`)")
    if "--no-auth" in words:
        _warn_of_no_auth(started.url)
    down = wait_for_pilots(started.url).pilots_down
    for sentence in down:
        err.print(f"warning: {sentence}")
    if down:
        raise typer.Exit(1)


def _absolute_roots(roots: list[str]) -> list[str]:
    return [root if "://" in root else str(Path(root).expanduser().absolute()) for root in roots]


def down(
    *, home: HomeOption = DEFAULT_HOME, now: NowOption = False, as_json: JsonOption = False
) -> None:
    """Stop the embedded system when its running jobs have ended.

    Ctrl-C hands the jobs back, to be run again. Everything else waits in the database. Processes
    that a killed system has left are ended, too.

    The exit status is 1 if a process cannot be stopped.
    """
    place = Home(home)
    owner = place.owner()
    if owner is not None:
        plain_errors(
            lambda: (
                stop_system(owner, limit=STOP_LIMIT_NOW) if now else drain_system(owner, err.print)
            )
        )
    elif place.is_locked_by_another():
        err.print(f"warning: {LOCKED.format(place.root / LOCK)}")
    from sluice.embedded.leftover_processes import end_leftover_processes  # noqa: PLC0415 - the command alone needs it

    leftovers, survivors = end_leftover_processes(place, at_once=now)
    lines = [] if owner is None else ["stopped"]
    lines += [
        f"ended {process}, which a killed system had left"
        for process in leftovers
        if process not in survivors
    ]
    lines += [f"{process} cannot be stopped" for process in survivors]
    value = {
        "stopped": bool(lines) and not survivors,
        "left": list(map(str, leftovers)),
        "going_on": list(map(str, survivors)),
    }
    print_answer(value, "\n".join(lines) or f"no system runs in {home}", as_json=as_json)
    if survivors:
        raise typer.Exit(1)


def status(*, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Show whether the embedded system runs, where, and whether every part of it is ready.

    The exit status is 1 if it does not run or a part is not ready.
    """
    running = plain_errors(Home(home).running)
    if running is None:
        if as_json:
            print_json({"running": False})
        else:
            out.print(f"no system runs in {home}")
        raise typer.Exit(1)
    readiness = read_readiness(running.url)
    if as_json:
        print_json(
            {"running": True, "url": running.url, "pid": running.pid, "ready": readiness.parts}
        )
    else:
        out.print(
            f"Sluice runs at {page_address(running.url)} (process {running.pid}, since"
            f" {local_time(datetime.fromisoformat(running.started_at))})"
        )
        for name, state in readiness.parts.items():
            if name not in {PILOTS, PILOTS_REFUSED}:
                out.print(f"  {name}: {_format_needs(state)}")
        for name, state in readiness.pilots.items():
            out.print(f"  pilot {name}: {state}")
    if not readiness.ready:
        raise typer.Exit(1)


def _format_needs(needs: dict[str, str]) -> str:
    """Return what a service lacks of what it needs, in words."""
    return "; ".join(f"{need}: {answer}" for need, answer in needs.items() if answer != OK) or OK
