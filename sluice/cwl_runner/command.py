"""The command line of `sluice cwl-runner`."""

import argparse
import json
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

from sluice.cwl_runner.client_lease import ClientLease
from sluice.cwl_runner.outputs import place_outputs
from sluice.cwl_runner.plain_errors import PlainErrors
from sluice.cwl_runner.rest import RequestRefusedError, RestConnection
from sluice.cwl_runner.session import FAILURES, RunnerSession
from sluice.cwl_runner.single_tool import CwltoolRequired, read_simple_tool
from sluice.embedded.home import DEFAULT_HOME, Home
from sluice.network.credentials import URL
from sluice.process.termination import (
    SIGNAL_STATUS,
    Terminated,
    print_termination,
    raise_at_termination,
)
from sluice.text.os_errors import reason_of

_USAGE_ERROR = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a process and return the exit status.

    The status is 0 for success, 1 if the process failed, and 2 if the command is wrong. It is 33 if
    the process needs something that is not supported. If a signal ended the command, the status is
    128 plus the number of the signal.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    options, unknown_options = _parser().parse_known_args(arguments)
    if options.version:
        print(_version())
        return 0
    raise_at_termination()
    chains: list[str] = []
    try:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluice-cwl-")))
            open_session = partial(_open_session, stack, options, folder, chains)
            if unknown_options or options.process is None:
                return _run_with_cwltool(arguments, open_session, folder)
            return _run_simple_tool(options, arguments, open_session, folder)
    except FAILURES as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail(
            f"interrupted: {_describe_cancellation(chains)}", status=SIGNAL_STATUS + signal.SIGINT
        )
    except Terminated as ended:
        ended.consequence = _describe_cancellation(chains)
        print_termination(ended, program="sluice: ")
        return SIGNAL_STATUS + ended.signal


def _describe_cancellation(chains: Sequence[str]) -> str:
    """Return a sentence about the work that a signal ended, with the command that shows it."""
    if not chains:
        return "what had begun on the system was canceled and removed"
    return f"what still ran was canceled; `sluice chain show {chains[-1]}` shows it"


def _open_session(
    stack: ExitStack, options: argparse.Namespace, folder: Path, chains: list[str]
) -> RunnerSession:
    """Open a session that ends with ``stack``, and if necessary start a system for it.

    ``chains`` gets the chains that the session still waits for when it ends.

    Raises:
        RequestRefusedError: The system refuses a request.
        OSError: No system runs, and none can be started.
    """
    url = stack.enter_context(_system(options.url, options.home))
    return stack.enter_context(_session(url, folder, options, chains))


@contextmanager
def _session(
    url: str, folder: Path, options: argparse.Namespace, chains: list[str]
) -> Iterator[RunnerSession]:
    lease = ClientLease(url, discard=True)
    with closing(RestConnection(url)) as rest:
        session = RunnerSession(
            rest, folder, lease=lease, process=options.process, wait_for_nodes=options.wait
        )
        try:
            yield session
        finally:
            chains += session.unfinished_chains
            try:
                with lease:  # if closing fails, the system ends the rest when it expires
                    session.close()
            except (RequestRefusedError, OSError) as error:  # the result is valid all the same
                _fail(f"something of this run may be left on the system: {reason_of(error)}")


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the quick start, which does not import cwltool.

    As in cwltool, all arguments after the process belong to the process.
    """
    parser = argparse.ArgumentParser(
        prog="sluice cwl-runner",
        description=(
            "Runs a CWL process with its job order on a Sluice system, and prints the output"
            " object."
        ),
        epilog=(
            "The other options are those of cwltool, before the process; its inputs come after it."
            " Unsupported options are refused by name."
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "process", nargs="?", metavar="PROCESS", help="file or address of a CWL process"
    )
    parser.add_argument(
        "order",
        nargs=argparse.REMAINDER,
        metavar="JOB",
        help="file with its inputs, or these as options",
    )
    parser.add_argument(
        "--outdir", default=".", help="folder for the outputs (default: the current one)"
    )
    parser.add_argument(
        "--quiet",
        action="store_true",
        help="only errors on standard error, and what keeps it waiting",
    )
    parser.add_argument("--version", action="store_true", help="the version, and an end")
    for option in _system_options():
        parser._add_action(option)
    return parser


def _system_options() -> list[argparse.Action]:
    """Return the options that cwltool does not have."""
    parser = argparse.ArgumentParser(add_help=False)
    return [
        parser.add_argument(
            "--url", help="address of a running system (default: SLUICE_URL, without --home)"
        ),
        parser.add_argument(
            "--home", help="folder of the embedded system, started if it is not up"
        ),
        parser.add_argument(
            "--wait",
            action="store_true",
            help="also for nodes that are not there: jobs may need more than any has",
        ),
    ]


def _run_simple_tool(
    options: argparse.Namespace,
    arguments: list[str],
    open_session: Callable[[], RunnerSession],
    folder: Path,
) -> int:
    try:
        invocation, needs = read_simple_tool(Path(options.process), options.order)
    except CwltoolRequired:
        return _run_with_cwltool(arguments, open_session, folder)
    session = open_session()
    session.submit(needs, [(None, invocation)])
    [result] = session.results()
    if result.outputs is None:
        print("{}")
        return _fail(result.reason)
    print(json.dumps(place_outputs(result.outputs, Path(options.outdir).resolve()), indent=4))
    return 0


def _run_with_cwltool(
    arguments: list[str], open_session: Callable[[], RunnerSession], folder: Path
) -> int:
    # The import of cwltool takes long.
    from sluice.cwl_runner.engine import run_process  # noqa: PLC0415
    from sluice.cwl_runner.options import UnsupportedOption, parse  # noqa: PLC0415

    try:
        options = parse(arguments, extra_options=_system_options())
    except UnsupportedOption as error:
        return _fail(str(error), status=_USAGE_ERROR)
    except SystemExit as error:
        return int(error.code or 0)
    if options.workflow is None and not options.print_supported_versions:
        _parser().print_usage(sys.stderr)
        return _fail("say which process is to be run", status=_USAGE_ERROR)
    process_arguments = list(options.job_order)
    logging.getLogger("cwltool").addFilter(PlainErrors())
    status = run_process(options, open_session, folder)
    if status == _USAGE_ERROR:
        _report_misplaced_options(process_arguments)
    return status


def _report_misplaced_options(process_arguments: list[str]) -> None:
    own_options = {option for action in _parser()._actions for option in action.option_strings}
    misplaced = [
        argument for argument in process_arguments if argument.split("=", 1)[0] in own_options
    ]
    if misplaced:
        _fail(
            f"{misplaced[0]} comes after the process, where all options are inputs of the process:"
            " put options of the command before it"
        )


@contextmanager
def _system(url: str | None, home: str | None) -> Iterator[str]:
    """Yield the address of the system to use.

    A system that was started for commands stops after the last of them.
    """
    if home is None:
        url = url or os.environ.get(URL) or None
        home = os.environ.get("SLUICE_HOME", str(DEFAULT_HOME))
    if url is not None:
        yield url.rstrip("/")
        return
    # With a system elsewhere, this module is not needed.
    from sluice.embedded.process import use_or_start_system  # noqa: PLC0415

    def report_start() -> None:
        print("sluice: starting an embedded system …", file=sys.stderr)

    with use_or_start_system(Home(Path(home)), on_start=report_start) as system:
        yield system.url


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - takes its time

    return f"sluice cwl-runner {version('sluice')}"


def _fail(sentence: str, *, status: int = 1) -> int:
    print(f"sluice: {sentence}", file=sys.stderr)
    return status
