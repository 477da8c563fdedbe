"""Measure what it costs to start a program: alone, in its own bubblewrap, and in a sandbox.

Usage: ``python scripts/measure_sandbox.py [ROUNDS [STARTS]]``. It prints medians over the rounds of
the processor time and the clock time of one start of ``/bin/true``, in milliseconds. The processor
time is that of the whole machine, so nothing else should run on it.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pilot.isolation.node.sandboxes import find_sandbox
from pilot.isolation.sandbox.bubblewrap import MountKind, MountPoint, Namespaces
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import SandboxInstance
from pilot.isolation.sandbox.view import View, VisibleFile

PROGRAM = "/bin/true"
ENVIRONMENT = {"PATH": os.defpath}


def start_alone(starts: int) -> None:
    """Start the program without isolation."""
    for _ in range(starts):
        subprocess.run([PROGRAM], env=ENVIRONMENT, check=True, start_new_session=True)


def start_in_new_bubblewrap(sandbox: Sandbox, folder: str) -> Callable[[int], None]:
    """Return a function that starts the program in a new bubblewrap each time.

    The mounts are those of the sandbox.
    """
    own = [
        MountPoint(kind=MountKind.WRITE, path=path, source=folder)
        for path in ("/job", "/tmp")  # noqa: S108 - in the sandbox
    ]
    namespaces = Namespaces(
        bubblewrap=sandbox.bubblewrap, mounts=[*sandbox.system, *own], nested=True
    )

    def run(starts: int) -> None:
        for _ in range(starts):
            program = namespaces.start(
                [PROGRAM], streams=(subprocess.DEVNULL,) * 3, environment=ENVIRONMENT
            )
            if program.wait() != 0:
                raise RuntimeError("it did not run")

    return run


def start_in_open_sandbox(sandbox: Sandbox, folder: str) -> Callable[[int], None]:
    """Return a function that starts the program in the pilot's sandbox, which stays open.

    The start of the sandbox is not counted: it happens when a slot runs its first job.
    """
    instance = SandboxInstance(sandbox, [folder], SandboxOptions())
    view = View([VisibleFile("/tmp", folder, writable=True), VisibleFile("/job", folder)])  # noqa: S108

    def run(starts: int) -> None:
        with open(os.devnull, "r+b") as nothing:
            for _ in range(starts):
                program = instance.start(
                    [PROGRAM],
                    environment=ENVIRONMENT,
                    folder="/job",
                    streams=[nothing.fileno()] * 2,
                    limits=ProcessLimits(),
                    view=view,
                )
                if program.end().status != 0:
                    raise RuntimeError("it did not run")

    run(1)
    return run


def processor_seconds() -> float:
    """Return the processor time of the whole machine, including interrupts; see proc(5)."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _waiting, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure all ways to start a program, and print their medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    starts = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory() as place:
        folder = f"{place}/job"
        os.mkdir(folder)
        sandbox = find_sandbox(
            "required", Path(place) / "system", [], hidden_paths=[Path(place) / "hidden"]
        )
        if isinstance(sandbox, str):
            raise SystemExit(sandbox)
        ways = {
            "by itself": start_alone,
            "bubblewrap for each": start_in_new_bubblewrap(sandbox, folder),
            "held sandbox": start_in_open_sandbox(sandbox, folder),
        }
        cost: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, run in ways.items():
                used, started = processor_seconds(), time.perf_counter()
                run(starts)
                ended = time.perf_counter()
                cost[name].append((processor_seconds() - used, ended - started))
    print(f"{'':20} processor ms  clock ms")
    for name, measured in cost.items():
        used, clock = (
            statistics.median(column) / starts * 1000 for column in zip(*measured, strict=True)
        )
        print(f"{name:20} {used:12.2f} {clock:9.2f}")


if __name__ == "__main__":
    main()
