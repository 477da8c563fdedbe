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
from pilot.node_isolation import find_configured_sandbox
from pilot.settings import PilotSettings, format_errors
from sluice.contracts.common.base import Contract
from sluice.servicekit.running.logging import configure_logging
from sluice.text.os_errors import os_error_sentence

#: Exit codes as of ``docker run``: not started, not found, and the base for a signal's number.
_NOT_STARTED, _NOT_FOUND, _BY_SIGNAL = 125, 127, 128
#: Seconds for the program to end after a signal.
_GRACE = 5


class SandboxedTool(Contract):
    """The files and options of a program in the sandbox.

    The paths include the working directory of this process, which the program works in too.

    Attributes:
        reads: Files and folders of the node that the program sees under the same paths.
        writes: Files and folders of the node that the program can also change.
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
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        try:
            settings = PilotSettings(work_dir=Path(folder))
            if not arguments:
                sandbox = find_configured_sandbox(settings, Path(folder, "system"), network=False)
                print(sandbox if isinstance(sandbox, str) else "")
                return 0
            tool = SandboxedTool.model_validate_json(Path(arguments[0]).read_bytes())
            return _run(tool, arguments[1:], settings, Path(folder))
        except ValidationError as error:
            return _fail(2, *format_errors(error))
        except NoSandboxError as error:
            return _fail(2, str(error))
        except SandboxError as error:
            return _fail(_NOT_STARTED, str(error))
        except OSError as error:
            return _fail(_NOT_FOUND, os_error_sentence(error))


def _fail(code: int, *sentences: str) -> int:
    """Print why the program does not run, and return the exit code."""
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return code


def _run(
    tool: SandboxedTool, arguments: Sequence[str], settings: PilotSettings, folder: Path
) -> int:
    """Run the program in the sandbox and return its exit code.

    Raises:
        OSError: The program does not exist.
        NoSandboxError: A required sandbox is not available.
        SandboxError: No sandbox is available, or the program did not start.
    """
    sandbox = find_configured_sandbox(settings, folder / "system", network=tool.network)
    if isinstance(sandbox, str):
        raise SandboxError(sandbox)
    if tool.network and sandbox.network is None and sandbox.node_network:
        print(f"network: the node's own, as {sandbox.no_network}", file=sys.stderr)
    temporary = folder / "tmp"
    temporary.mkdir()
    instance = SandboxInstance(sandbox, [str(temporary)], SandboxOptions(network=tool.network))
    forwarder = _SignalForwarder()
    with _open_streams(tool.writes) as streams, closing(instance):
        program = instance.start(
            arguments,
            environment=tool.environment,
            folder=os.getcwd(),
            streams=streams,
            limits=ProcessLimits(),
            view=_build_view(tool, str(temporary)),
            stdin=_find_path(0),
        )
        forwarder.set_program(program)
        status = os.waitstatus_to_exitcode(program.end().status)
    return status if status >= 0 else _BY_SIGNAL - status


def _build_view(tool: SandboxedTool, temporary: str) -> View:
    """Return the view of the program.

    Each file appears under its given path, and under its path without links, because some programs
    resolve links.
    """
    files = {"/tmp": VisibleFile("/tmp", temporary, writable=True)}  # noqa: S108 - its own
    for paths, writable in ((tool.reads, False), (tool.writes, True)):
        for path in paths:
            source = os.path.realpath(path)
            files.update({name: VisibleFile(name, source, writable) for name in (source, path)})
    return View(list(files.values()))


def _find_path(descriptor: int) -> str:
    """Return the path of an open regular file, or ``/dev/null`` for anything else."""
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    return path if os.path.isfile(path) else os.devnull


@contextmanager
def _open_streams(writes: Sequence[str]) -> Iterator[list[int]]:
    """Yield file descriptors for the standard output and error of the program.

    A stream that is a file in ``writes`` is passed on. Any other stream is copied through a pipe,
    so that the program has no access to a terminal or to existing content of a file.
    """
    roots = tuple(os.path.join(os.path.realpath(path), "") for path in writes)
    with ExitStack() as stack:
        streams = []
        for number in (1, 2):
            if _find_path(number).startswith(roots):
                streams.append(number)
                continue
            reading, writing = os.pipe()
            source = stack.enter_context(open(reading, "rb", 0))
            target = stack.enter_context(open(number, "wb", 0, closefd=False))
            copy = Thread(target=copyfileobj, args=(source, target))
            copy.start()
            stack.callback(copy.join)
            stack.callback(os.close, writing)
            streams.append(writing)
        yield streams


class _SignalForwarder:
    """Forwards signals of this process to the program.

    The program is killed a few seconds after the signal.
    """

    def __init__(self) -> None:
        self._signal = 0
        self._program: SandboxedProgram | None = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGALRM, self._kill)

    def set_program(self, program: SandboxedProgram) -> None:
        """Set the program that gets the signals."""
        self._program = program
        self._forward()

    def _on_signal(self, number: int, _: object) -> None:
        self._signal = number
        self._forward()

    def _forward(self) -> None:
        if self._program is not None and self._signal:
            self._program.signal(self._signal)
            signal.alarm(_GRACE)

    def _kill(self, *_: object) -> None:
        if self._program is not None:
            self._program.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
