"""``python -m pilot.sandboxed_tool FILE PROGRAM …`` runs a program in a pilot's sandbox.

The sandbox is the one that a pilot with the settings of this environment would use on this node.
``FILE`` holds a ``SandboxedTool``. Without arguments, the command prints why no sandbox is
available, or an empty line.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from shutil import copyfileobj
from threading import Thread

from pydantic import ValidationError

from pilot.isolation.node.sandboxes import NoSandboxError
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import SandboxedProgram, SandboxError, SandboxInstance
from pilot.isolation.sandbox.view import View, VisibleFile
from pilot.node_isolation import sandbox_of
from pilot.settings import PilotSettings, sentences_of
from sluice.contracts.common.base import Contract
from sluice.servicekit.running.logging import configure_logging
from sluice.text.os_errors import sentence_of

#: Exit codes as of ``docker run``: not started, not found, and the base for a signal's number.
_NOT_STARTED, _NOT_THERE, _BY_SIGNAL = 125, 127, 128
#: Seconds for the program to end after a signal.
_GRACE = 5


class SandboxedTool(Contract):
    """What a program gets in the sandbox.

    ``reads`` and ``writes`` are paths of files and folders of the node that the program sees under
    the same paths. They include the working directory of this process, which the program works in
    too.
    """

    environment: dict[str, str]
    reads: list[str]
    writes: list[str]
    network: bool


def main(arguments: Sequence[str]) -> int:
    """Run the program in the sandbox and return the exit code.

    Returns:
        The exit code of the program, or 128 plus the signal that ended it. 2 means wrong settings
            or a required sandbox that is missing, 125 that the program did not start, 127 that it
            was not found.
    """
    configure_logging("contained", level="ERROR")
    with tempfile.TemporaryDirectory(prefix="sluice-") as own:
        try:
            settings = PilotSettings(work_dir=Path(own))
            if not arguments:
                sandbox = sandbox_of(settings, Path(own, "system"), network=False)
                print(sandbox if isinstance(sandbox, str) else "")
                return 0
            tool = SandboxedTool.model_validate_json(Path(arguments[0]).read_bytes())
            return _run(tool, arguments[1:], settings, Path(own))
        except ValidationError as error:
            return _told(2, *sentences_of(error))
        except NoSandboxError as error:
            return _told(2, str(error))
        except SandboxError as error:
            return _told(_NOT_STARTED, str(error))
        except OSError as error:
            return _told(_NOT_THERE, sentence_of(error))


def _told(code: int, *sentences: str) -> int:
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return code


def _run(tool: SandboxedTool, arguments: Sequence[str], settings: PilotSettings, own: Path) -> int:
    """Run the program in the sandbox and return its exit code.

    Raises:
        OSError: The program does not exist.
        NoSandboxError: A required sandbox is not available.
        SandboxError: No sandbox is available, or the program did not start.
    """
    sandbox = sandbox_of(settings, own / "system", network=tool.network)
    if isinstance(sandbox, str):
        raise SandboxError(sandbox)
    if tool.network and sandbox.network is None and sandbox.node_network:
        _told(0, f"network: the node's own, as {sandbox.no_network}")
    temporary = own / "tmp"
    temporary.mkdir()
    held = SandboxInstance(sandbox, [str(temporary)], SandboxOptions(network=tool.network))
    ending = _SignalForwarder()
    with _streams(tool.writes) as streams, closing(held):
        program = held.start(
            arguments,
            environment=tool.environment,
            folder=os.getcwd(),
            streams=streams,
            limits=ProcessLimits(),
            view=_view(tool, str(temporary)),
            stdin=_path_of(0),
        )
        ending.of(program)
        status = os.waitstatus_to_exitcode(program.end().status)
    return status if status >= 0 else _BY_SIGNAL - status


def _view(tool: SandboxedTool, temporary: str) -> View:
    """Return the view of the program.

    Each file appears under its given path and under its path without links, as some programs use
    the latter.
    """
    files = {"/tmp": VisibleFile("/tmp", temporary, writable=True)}  # noqa: S108 - its own
    for paths, writable in ((tool.reads, False), (tool.writes, True)):
        for path in paths:
            source = os.path.realpath(path)
            files.update({seen: VisibleFile(seen, source, writable) for seen in (source, path)})
    return View(list(files.values()))


def _path_of(descriptor: int) -> str:
    """Return the path of an open regular file, or ``/dev/null`` for anything else."""
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    return path if os.path.isfile(path) else os.devnull


@contextmanager
def _streams(writes: Sequence[str]) -> Iterator[list[int]]:
    """Yield file descriptors for the standard output and error of the program.

    A stream that is a file in ``writes`` is passed on. Any other stream is copied through a pipe,
    so that the program has no access to a terminal or to existing content of a file.
    """
    roots = tuple(os.path.join(os.path.realpath(path), "") for path in writes)
    with ExitStack() as ended:
        streams = []
        for number in (1, 2):
            if _path_of(number).startswith(roots):
                streams.append(number)
                continue
            from_it, for_it = os.pipe()
            copied = ended.enter_context(open(from_it, "rb", 0))
            to = ended.enter_context(open(number, "wb", 0, closefd=False))
            copy = Thread(target=copyfileobj, args=(copied, to))
            copy.start()
            ended.callback(copy.join)
            ended.callback(os.close, for_it)
            streams.append(for_it)
        yield streams


class _SignalForwarder:
    """Forwards signals of this process to the program.

    The program is killed a few seconds after the signal.
    """

    def __init__(self) -> None:
        self._told = 0
        self._program: SandboxedProgram | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told_to)
        signal.signal(signal.SIGALRM, self._kill)

    def of(self, program: SandboxedProgram) -> None:
        """Set the program that gets the signals."""
        self._program = program
        self._pass_on()

    def _told_to(self, number: int, _: object) -> None:
        self._told = number
        self._pass_on()

    def _pass_on(self) -> None:
        if self._program is not None and self._told:
            self._program.signal(self._told)
            signal.alarm(_GRACE)

    def _kill(self, *_: object) -> None:
        if self._program is not None:
            self._program.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
