"""Command line: ``python -m stack up | demo | ocr-demo | masstimes-demo | bench``."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import uvloop
from filelock import FileLock, Timeout

from sluice.text.os_errors import os_error_sentence
from stack.compose import InvalidComposeFile
from stack.scenarios import run_bench, run_demo
from stack.stack import Stack, StackOptions

ROOT = Path(__file__).resolve().parents[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    The status is 0 after a stop on request and 1 if the stack could not start. It is 2 for wrong
    arguments or a compose file that cannot be run.
    """
    arguments = _build_parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except Timeout:
        _tell(f"a stack already runs in {arguments.folder}")
        return 1
    except InvalidComposeFile as error:
        _tell(str(error))
        return 2
    except OSError as error:
        _tell(f"error: {os_error_sentence(error)}")
        return 1


def _demo(arguments: argparse.Namespace) -> int:
    frames = ["--frames", str(arguments.frames)]
    return run_demo(arguments.folder.resolve(), "spd.demo", frames, ["--stop-limit", "10"])


def _ocr_demo(arguments: argparse.Namespace) -> int:
    pages = ["--pages", str(arguments.pages)]
    options = ["--replicas", "pilot=2", "--slots", "1", "--stop-limit", "10"]
    return run_demo(arguments.folder.resolve(), "ocr.demo", pages, options)


def _masstimes_demo(arguments: argparse.Namespace) -> int:
    from masstimes.demo_settings import SETTINGS  # noqa: PLC0415 - the other commands need no pack

    sites = ["--sites", str(arguments.sites)]
    variables = ",".join(f"{name}={value}" for name, value in SETTINGS.items())
    options = ["--replicas", "pilot=2", "--slots", "4", "--stop-limit", "10", "--set", variables]
    return run_demo(arguments.folder.resolve(), "masstimes.demo", sites, options)


def _bench(arguments: argparse.Namespace) -> int:
    waiting = [word for number in arguments.waiting for word in ("--waiting", str(number))]
    return run_bench(arguments.folder.resolve(), ["--jobs", str(arguments.jobs), *waiting])


def _up(arguments: argparse.Namespace) -> int:
    folder = arguments.folder.resolve()
    options = StackOptions(
        compose=arguments.compose.resolve(),
        folder=folder,
        replicas=arguments.replicas,
        extra=arguments.set
        | ({"SLUICE_PILOT_CORES": str(arguments.slots)} if arguments.slots else {}),
        direct=arguments.direct,
        stop_limit=arguments.stop_limit,
    )
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock", timeout=0):
        uvloop.run(_run(options))
    return 0


async def _run(options: StackOptions) -> None:
    stop_requested = asyncio.Event()
    stack = Stack(options, _tell)

    def on_signal() -> None:
        if stop_requested.is_set():
            stack.kill()
        else:
            _tell("stopping; once more to stop at once")
        stop_requested.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    if stack.plan.skipped_services:
        _tell(f"left out (no processes of Sluice): {', '.join(stack.plan.skipped_services)}")
    try:
        await stack.start()
        ready = asyncio.create_task(stack.until_ready())
        stop_task = asyncio.create_task(stop_requested.wait())
        await asyncio.wait([ready, stop_task], return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            counts = {
                service.name: service.replicas
                for service in stack.plan.services.values()
                if service.replicas and not service.runs_once
            }
            _tell(
                "running: "
                + ", ".join(
                    f"{name} ×{count}" if count > 1 else name for name, count in counts.items()
                )
            )
            _tell("set these variables to use `sluice` as the administrator of this stack:")
            for name, value in stack.variables.items():
                _tell(f"  export {name}={value}")
            print(f"ready {stack.url}", flush=True)
        ready.cancel()
        await stop_task
    finally:
        await stack.stop()
        _tell("stopped")


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m stack",
        description="The system of docker-compose.yml, as plain processes",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_demos(commands)
    bench = commands.add_parser("bench", help="measure the bookkeeping of a separate stack")
    bench.add_argument(
        "--folder", type=Path, required=True, help="folder of the stack, which is emptied first"
    )
    bench.add_argument(
        "--jobs", type=int, default=10_000, help="number of jobs to lease, report and register"
    )
    bench.add_argument(
        "--waiting",
        type=int,
        nargs="+",
        default=[10_000, 1_000_000],
        help="further jobs that stay ready meanwhile; one measurement for each number",
    )
    bench.set_defaults(run=_bench)
    up = commands.add_parser("up", help="run it until SIGTERM or Ctrl-C")
    up.set_defaults(run=_up)
    up.add_argument("--folder", type=Path, required=True, help="folder for all data of the stack")
    up.add_argument("--compose", type=Path, default=ROOT / "docker-compose.yml")
    up.add_argument(
        "--replicas",
        type=_parse_counts,
        default={},
        metavar="SERVICE=N,…",
        help="replace the numbers in the compose file",
    )
    up.add_argument(
        "--slots", type=int, help="cores of each pilot; replaces the number in its env file"
    )
    up.add_argument(
        "--set",
        type=_parse_pairs,
        default={},
        metavar="NAME=VALUE,…",
        help="more environment for the programs of Sluice",
    )
    up.add_argument(
        "--direct",
        action="store_true",
        help="use no proxy for services with one process: for measurements without faults",
    )
    up.add_argument(
        "--stop-limit",
        type=float,
        default=20.0,
        help="seconds that each process has to stop",
    )
    return parser


def _add_demos(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    demo = commands.add_parser(
        "demo", help="run the detector pack's demonstration on a separate stack"
    )
    demo.add_argument(
        "--folder", type=Path, required=True, help="folder of the stack, which is emptied first"
    )
    demo.add_argument("--frames", type=int, default=60, help="frames of each run")
    demo.set_defaults(run=_demo)
    ocr_demo = commands.add_parser(
        "ocr-demo", help="run the demonstration of document OCR on a separate stack"
    )
    ocr_demo.add_argument(
        "--folder", type=Path, required=True, help="folder of the stack, which is emptied first"
    )
    ocr_demo.add_argument("--pages", type=int, default=30, help="pages of each volume")
    ocr_demo.set_defaults(run=_ocr_demo)
    masstimes_demo = commands.add_parser(
        "masstimes-demo", help="run the demonstration of mass times on a separate stack"
    )
    masstimes_demo.add_argument(
        "--folder", type=Path, required=True, help="folder of the stack, which is emptied first"
    )
    masstimes_demo.add_argument(
        "--sites", type=int, default=60, help="number of sites in the generated web"
    )
    masstimes_demo.set_defaults(run=_masstimes_demo)


def _parse_pairs(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    if not all(name and equals for name, equals, _ in pairs):
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE,…, not {text}")
    return {name: value for name, _, value in pairs}


def _parse_counts(text: str) -> dict[str, int]:
    try:
        return {name: int(value) for name, value in _parse_pairs(text).items()}
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected SERVICE=N,…, not {text}") from None


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
