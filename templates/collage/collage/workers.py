"""`collage-workers` runs pilots that behave like old computers.

Each pilot takes as long for a job as its computer, dies as its computer does, and has its fault.
They are real pilots. A gateway in front of each forwards its calls (`collage.gateway`).
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from collage.computers import Fault, OldComputer
from collage.gateway import Gateway, Statistics
from sluice.clientkit.output import print_table
from sluice.embedded.exit_reason import read_exit_reason
from sluice.network.http_clients import http_client
from sluice.packs.programs import (
    Parser,
    UsageError,
    not_negative_number,
    positive,
    positive_number,
    read_input,
    run_command,
)
from sluice.pilot_launchers.local_process import LocalPilot, end_pilot, launch_pilot
from sluice.servicekit.web.server import HttpServer
from sluice.text.visible_text import quoted

_HOST = "127.0.0.1"
#: The beginning of ``fate`` if the pilot failed or did not start.
ENDED_BY_ITSELF = "ended by itself"
COLUMNS = ["worker", "way", "delay, s", "finished", "failed", "too late", "seconds a job", "fate"]
#: One job at a time and no containers: the search for engines takes a second of a core for each.
_SETTINGS = {"SLUICE_PILOT_SLOTS": "1", "SLUICE_PILOT_CONTAINERS": "[]"}


@dataclass
class Worker:
    """A pilot with its simulated computer.

    ``fate`` tells how it ended: ``died``, ``stopped``, or why its pilot ended by itself. It is
    empty while the worker runs. ``dies_after`` is the number of seconds from its first job to its
    death; with None, the computer decides. ``token`` is the file with its registration token.
    """

    computer: OldComputer
    folder: Path
    wms_url: str
    late: float
    dies_after: float | None = None
    fate: str = ""
    token: Path | None = None
    statistics: Statistics = field(default_factory=Statistics)

    async def live(self, stop: asyncio.Event) -> None:
        """Run until the worker dies, is told to stop, or its pilot ends by itself.

        Raises:
            OSError: The pilot or the gateway does not start.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        async with http_client(self.wms_url) as wms:
            gateway = Gateway(self.computer, wms, late=self.late)
            self.statistics = gateway.statistics
            server = HttpServer(gateway, host=_HOST, port=0)
            await server.start()
            try:
                await self._run_pilot(f"http://{_HOST}:{server.port}", gateway, stop)
            finally:
                await server.stop()

    async def _run_pilot(self, url: str, gateway: Gateway, stop: asyncio.Event) -> None:
        name = self.computer.name
        pilot = LocalPilot(
            name, url, 1, self.folder / "work", self.folder / "log", token=self.token
        )
        begin = pilot.log.stat().st_size if pilot.log.exists() else 0
        process = await launch_pilot(pilot, _SETTINGS)
        death = asyncio.create_task(self._wait_for_death(gateway))
        stopped = asyncio.create_task(stop.wait())
        ended = asyncio.create_task(process.wait())
        await asyncio.wait([death, stopped, ended], return_when=asyncio.FIRST_COMPLETED)
        if ended.done() and not stop.is_set():
            reason = read_exit_reason(pilot.log, begin, ended.result())
            self.fate = f"{ENDED_BY_ITSELF}: {reason} (its log: {pilot.log})"
        elif stop.is_set():
            hurried = asyncio.Event()
            hurried.set()
            await end_pilot(process, hurried)
            self.fate = "stopped"
        else:
            os.killpg(process.pid, signal.SIGKILL)
            self.fate = "died"
        for task in (death, stopped):
            task.cancel()
        await ended

    async def _wait_for_death(self, gateway: Gateway) -> None:
        """Return when the worker dies."""
        if self.dies_after is not None:
            await gateway.job_received.wait()
            await asyncio.sleep(self.dies_after)
            return
        last = time.monotonic()
        while True:
            await asyncio.sleep(self.computer.check_seconds)
            elapsed, last = time.monotonic() - last, time.monotonic()
            if self.computer.dies(elapsed):
                return


def _parse_faults(texts: Sequence[str], workers: int) -> dict[int, Fault]:
    """Parse the faults of workers by their number.

    Raises:
        UsageError: A text is not NUMBER=WAY, or there is no such worker.
    """
    faults: dict[int, Fault] = {}
    for text in texts:
        number, _, fault = text.partition("=")
        try:
            faults[int(number)] = Fault(fault)
        except ValueError as error:
            names = ", ".join(Fault)
            raise UsageError(
                f"--misbehave takes NUMBER=WAY, with a way of {names}; not {quoted(text)}"
            ) from error
        if not 1 <= int(number) <= workers:
            raise UsageError(f"--misbehave {text}: there are workers 1 to {workers}")
    return faults


async def _run(arguments: argparse.Namespace) -> None:
    if urlsplit(arguments.wms_url).scheme not in {"http", "https"}:
        raise UsageError(f"--wms-url {quoted(arguments.wms_url)} is not an address: give http://…")
    if arguments.token is not None:
        read_input(arguments.token)
    random = Random(arguments.seed)  # noqa: S311 - no secret
    faults = _parse_faults(arguments.misbehave, arguments.workers)
    workers = [
        Worker(
            OldComputer(
                f"{arguments.prefix}-{number}",
                Random(random.random()),  # noqa: S311 - no secret
                faults.get(number, Fault.NONE),
                arguments.factor,
                arguments.speed_up,
            ),
            arguments.home / f"{arguments.prefix}-{number}",
            arguments.wms_url,
            arguments.late,
            token=arguments.token,
        )
        for number in range(1, arguments.workers + 1)
    ]
    for worker in workers:
        worker.folder.mkdir(parents=True, exist_ok=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    for worker in workers:
        computer = worker.computer
        description = {"worker": computer.name, "seconds_a_job": round(computer.delay, 2)}
        print(json.dumps(description | {"way": computer.fault}), flush=True)
    await asyncio.gather(*(worker.live(stop) for worker in workers))
    print_statistics(workers)


def print_statistics(workers: Sequence[Worker]) -> None:
    """Print a table of what all workers delivered, and how each ended."""
    print_table(COLUMNS, [_row(worker) for worker in workers], empty="no worker")


def _row(worker: Worker) -> tuple[object, ...]:
    counts = worker.statistics
    mean = "–" if counts.mean_seconds is None else f"{counts.mean_seconds:.2f}"
    computer = worker.computer
    delivered = (counts.finished, counts.failed, counts.too_late, mean)
    return (computer.name, computer.fault.value, computer.delay, *delivered, worker.fate)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `collage-workers` and return its exit code."""
    parser = Parser(
        prog="collage-workers",
        description="Run pilots that simulate old computers: they are slow, die at random and"
        " may have faults.",
    )
    add = parser.add_argument
    add("--wms-url", required=True, metavar="URL", help="Address of the WMS (http:// or https://)")
    add(
        "--token",
        type=Path,
        metavar="FILE",
        help="File with the registration token of pilots, if the WMS requires one (default: none)",
    )
    add(
        "--workers",
        type=positive,
        default=8,
        metavar="N",
        help="Number of pilots to run (default: %(default)s)",
    )
    add(
        "--home",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="Folder for the working folders and logs of the pilots",
    )
    add(
        "--seed",
        type=int,
        default=1,
        help="Seed of the random computers; equal seeds give equal computers"
        " (default: %(default)s)",
    )
    _add_fault_options(add)
    return run_command(parser, lambda arguments: asyncio.run(_run(arguments)), argv)


def _add_fault_options(add: Any) -> None:
    """Add the options of faults and of time."""
    add(
        "--factor",
        type=not_negative_number,
        default=1.0,
        metavar="PERCENT",
        help="Probability in percent that a pilot dies within a second; 0 means that no pilot dies"
        " (default: 1)",
    )
    add(
        "--speed-up",
        type=positive_number,
        default=1.0,
        metavar="FACTOR",
        help="Make jobs and deaths this many times as fast (default: 1)",
    )
    add(
        "--late",
        type=not_negative_number,
        default=60.0,
        metavar="SECONDS",
        help="Send reports of pilots with the fault `late` this many seconds after the end of the"
        " lease (default: %(default)g)",
    )
    add(
        "--prefix",
        default="old",
        metavar="NAME",
        help="Prefix of the pilots' names, before a hyphen and the number (default: %(default)s)",
    )
    add(
        "--misbehave",
        action="append",
        default=[],
        metavar="NUMBER=WAY",
        help=f"Give the pilot NUMBER (from 1) the fault WAY: {', '.join(Fault)}; repeatable"
        " (default: no faults)",
    )


if __name__ == "__main__":
    sys.exit(main())
