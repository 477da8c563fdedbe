"""The command line of `sluice cwl-runner`."""

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sluice.cli.cwl_runner.outputs import put_out
from sluice.cli.cwl_runner.rest import Refused, Rest
from sluice.cli.cwl_runner.session import FAILURES, Session
from sluice.cli.cwl_runner.simple import NotSimple, read_simple
from sluice.embedded.home import Home

_DEFAULT_HOME = "~/.local/share/sluice"
_ENDED = 128


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one process; the exit status: 0, 1 where it failed, 33 where something in it is not supported."""
    given, rest = _parser().parse_known_args(arguments)
    if given.version:
        print(_version())
        return 0
    if given.process is None:
        _parser().print_usage(sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with (
            _system(given.url, given.home) as url,
            tempfile.TemporaryDirectory(prefix="sluice-cwl-") as folder,
            _session(url, Path(folder)) as session,
        ):
            return _run(given, rest, session, Path(folder))
    except FAILURES as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted: what still ran was canceled", status=_ENDED + signal.SIGINT)


@contextmanager
def _session(url: str, folder: Path) -> Iterator[Session]:
    session = Session(Rest(url), folder)
    try:
        yield session
    finally:
        try:
            session.close()
        except (Refused, OSError) as error:  # the outcome stands all the same
            _fail(f"something of this run may be left on the system: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sluice cwl-runner",
        description="Runs a CWL process with its job order on a Sluice system, and prints the output object.",
        epilog="All other options, and values of inputs as options, are those of cwltool.",
        allow_abbrev=False,
    )
    parser.add_argument("process", nargs="?", metavar="PROCESS", help="file or address of a CWL process")
    parser.add_argument("order", nargs="?", metavar="JOB", help="file with its inputs, YAML or JSON")
    parser.add_argument("--outdir", default=".", help="folder for the outputs (default: the current one)")
    parser.add_argument("--quiet", action="store_true", help="only errors on standard error, and what keeps it waiting")
    parser.add_argument("--version", action="store_true", help="the version, and an end")
    parser.add_argument("--url", default=os.environ.get("SLUICE_URL"), help="address of a running system")
    home = os.environ.get("SLUICE_HOME", _DEFAULT_HOME)
    parser.add_argument("--home", default=home, help="folder of the embedded system, started if it is not up")
    return parser


def _run(given: argparse.Namespace, rest: list[str], session: Session, folder: Path) -> int:
    try:
        if rest:
            raise NotSimple(rest[0])
        invocation, needs = read_simple(Path(given.process), Path(given.order) if given.order else None)
    except NotSimple:
        return _run_any(given, rest, session, folder)
    session.submit(needs, [(None, invocation)])
    [result] = session.results()
    if result.outputs is None:
        print("{}")
        return _fail(result.reason)
    print(json.dumps(put_out(result.outputs, Path(given.outdir).resolve()), indent=4))
    return 0


def _run_any(given: argparse.Namespace, rest: list[str], session: Session, folder: Path) -> int:
    from sluice.cli.cwl_runner.engine import run_process  # noqa: PLC0415 - cwltool takes long to import

    options = ["--outdir", given.outdir, "--no-container", *(["--quiet"] if given.quiet else [])]
    process = [given.process, *([given.order] if given.order else [])]
    return run_process([*options, *process, *rest], session, folder)


@contextmanager
def _system(url: str | None, home: str) -> Iterator[str]:
    """Address of the system to use; one that was started here is stopped at the end."""
    running = Home(Path(home)).running() if url is None else None
    if url is not None or running is not None:
        yield (url or running.url).rstrip("/")  # type: ignore[union-attr] # one of them is there
        return
    from sluice.cli.up import start_detached, stop  # noqa: PLC0415 - a running system needs none of it

    print("sluice: starting an embedded system …", file=sys.stderr)
    started = start_detached(Home(Path(home)), ["--port", "0"])
    try:
        yield started.url
    finally:
        stop(started)


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - takes its time

    return f"sluice cwl-runner {version('sluice')}"


def _fail(sentence: str, *, status: int = 1) -> int:
    print(f"sluice: {sentence}", file=sys.stderr)
    return status


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
