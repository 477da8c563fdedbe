"""Warm workers: ``serve(main)`` makes a persistent worker of any ``main(arguments)``.

    from sluice.warm import once, serve

    @once
    def model(path): ...          # loaded by the first job, kept for all

    def main(arguments): ...      # one job; its exit code, or None

    if __name__ == "__main__":
        serve(main)

Started as usual, the program runs once. Started with ``--persistent_worker``, it serves one request
after another by the protocol of Bazel's persistent workers: one JSON object a line, on standard
input and output. ``main`` needs no change: each request has the ``sys.argv``, folder, environment
and umask of a new process. Standard input is empty. Standard output, also of C code and children,
belongs to the job, and standard error is its log. Other changes by ``main`` stay: open files,
threads, signal handlers, global variables.

The module needs only Python's standard library, and imports little of it.
"""

import functools
import os
import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, ParamSpec, TypeVar

#: The argument that makes the program serve requests.
FLAG = "--persistent_worker"
#: The variable with the path of the file for each job's standard output. Without such a file the
#: response contains the output.
STDOUT_PATH = "WARM_STDOUT"

#: The first descriptor for the protocol. Programs that close all descriptors usually close only
#: lower ones.
_FIRST_DESCRIPTOR = 64
_MAX_CHUNK = 1 << 16
#: Python's exit codes if standard output could not be written, and after Ctrl-C.
_UNWRITTEN, _INTERRUPTED = 120, 130
_STDERR = 2

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Main = Callable[[Sequence[str]], int | None]


def serve(main: Main) -> None:
    """Run ``main`` once with the command line's arguments, or serve requests to the end.

    The process ends with ``main``'s exit code, or with 0.
    """
    if FLAG not in sys.argv[1:]:
        raise SystemExit(main(sys.argv[1:]))
    fixed = [argument for argument in sys.argv[1:] if argument != FLAG]
    _Worker(main, fixed).serve()
    raise SystemExit(0)


def once(load: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Keep the result of the first call of ``load`` for the life of the process.

    Arguments of later calls are ignored. All jobs of a process have the same values at the inputs
    that ``key`` of ``sluice:warm`` names.
    """
    results: list[Result] = []

    @functools.wraps(load)
    def wrapper(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        if not results:
            results.append(load(*arguments, **keywords))
        return results[0]

    return wrapper


class _Requests:
    """The incoming requests.

    A request to cancel the current request raises ``KeyboardInterrupt`` in it, as Ctrl-C would.
    """

    def __init__(self, descriptor: int) -> None:
        import fcntl  # noqa: PLC0415 - only a program that serves requests needs these imports

        self._descriptor = descriptor
        self._text = b""
        self._waiting: list[dict[str, Any]] = []
        self._current: int | None = None
        self._has_new_input = self._is_searching = False
        self.canceled = False
        # The kernel signals input. A thread that waits for input would disturb programs that fork.
        signal.signal(signal.SIGIO, self._on_input)
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)

    def next(self) -> dict[str, Any] | None:
        """Return the next request, or None at the end.

        Raises:
            ValueError: A line is not a request.
        """
        while True:
            while self._waiting:
                request = self._waiting.pop(0)
                if not request.get("cancel"):  # otherwise its request has been answered already
                    return request
            if not self._read():
                return None

    def begin(self, number: int) -> None:
        """Note the current request, and look for its cancellation."""
        self.canceled = False
        self._current = number
        self._look_for_cancel()

    def end(self) -> None:
        """Note that there is no current request."""
        self._current = None

    def _on_input(self, _number: int, _frame: FrameType | None) -> None:
        self._look_for_cancel()

    def _look_for_cancel(self) -> None:
        """Look for the cancellation of the current request.

        A signal during the search only repeats it, so that two reads do not overlap.
        """
        self._has_new_input = True
        while self._has_new_input and not self._is_searching:
            self._is_searching = True
            try:
                self._has_new_input = False
                self._find_cancel()
            finally:
                self._is_searching = False

    def _find_cancel(self) -> None:
        while self._current is not None and select.select([self._descriptor], [], [], 0)[0]:
            if not self._read():
                break
        for request in self._waiting:
            if request.get("cancel") and request.get("requestId", 0) == self._current:
                self._waiting.remove(request)
                self._current, self.canceled = None, True
                raise KeyboardInterrupt

    def _read(self) -> bool:
        """Read requests, and return False if the other side has closed."""
        import json  # noqa: PLC0415

        chunk = os.read(self._descriptor, _MAX_CHUNK)
        *lines, self._text = (self._text + chunk).split(b"\n")
        for line in filter(bytes.strip, lines):
            request = json.loads(line)
            if not isinstance(request, dict):
                raise ValueError(
                    f"a request is a JSON object, not {line[:80].decode(errors='replace')}"
                )
            self._waiting.append(request)
        return bool(chunk)


class _Worker:
    """A worker. The arguments of each request follow the ``fixed`` arguments."""

    def __init__(self, main: Main, fixed_arguments: Sequence[str]) -> None:
        self._main = main
        self._fixed_arguments = list(fixed_arguments)
        self._program = sys.argv[0]
        self._stdout_path = os.environ.pop(STDOUT_PATH, None)
        self._environment = dict(os.environ)
        self._folder = _duplicate(os.open(".", os.O_RDONLY | os.O_DIRECTORY), close=True)
        self._umask = os.umask(0)
        os.umask(self._umask)
        self._requests = _Requests(_duplicate(0))
        self._answers = _duplicate(1)
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def serve(self) -> None:
        """Serve requests until there are no more."""
        while (request := self._requests.next()) is not None:
            self._answer(self._serve(request))

    def _serve(self, request: Mapping[str, Any]) -> dict[str, Any]:
        number = int(request.get("requestId", 0))
        output = self._open_stdout()
        os.dup2(output, 1)
        try:
            self._start(request)
            code = self._run_main([*self._fixed_arguments, *request.get("arguments", ())], number)
            code = self._flush(code)
            text = "" if self._in_file else _content(output)
        finally:
            os.close(output)
            os.dup2(2, 1)  # for output of threads between jobs
            self._restore()
        answer = {"exitCode": code, "output": text, "requestId": number}
        return answer | ({"wasCancelled": True} if self._requests.canceled else {})

    def _start(self, request: Mapping[str, Any]) -> None:
        folder = request.get("sandboxDir")
        if folder:
            os.chdir(folder)

    def _run_main(self, arguments: list[str], number: int) -> int:
        """Run ``main``, and return the exit code that a new process would have."""
        sys.argv = [self._program, *arguments]
        try:
            self._requests.begin(number)
            try:
                result: object = self._main(arguments)
            finally:
                self._requests.end()
        except SystemExit as error:
            result = error.code
        except KeyboardInterrupt:
            if not self._requests.canceled:
                _print_exception()
            return _INTERRUPTED
        except BaseException:  # Like Python, print the exception and exit with status 1.
            _print_exception()
            return 1
        if result is None:
            return 0
        if isinstance(result, int):
            return int(result) & 0xFF
        print(result, file=sys.stderr)
        return 1

    def _open_stdout(self) -> int:
        """Open the file for the job's standard output, or a temporary one."""
        self._in_file = False
        if self._stdout_path is not None:
            try:
                descriptor = os.open(self._stdout_path, os.O_WRONLY | os.O_APPEND)
            except FileNotFoundError:
                pass
            else:
                self._in_file = True
                return _duplicate(descriptor, close=True)
        return _duplicate(os.memfd_create("stdout"), close=True)

    def _flush(self, code: int) -> int:
        """Flush the buffers of Python and C while the output belongs to this job."""
        import ctypes  # noqa: PLC0415

        for stream in {sys.stdout, sys.stderr, *self._streams[1:]}:
            try:
                if stream is not None and not stream.closed:
                    stream.flush()
            except OSError as error:
                message = f"standard output cannot be written: {error.strerror or error}\n"
                os.write(2, message.encode())
                # The rest of its buffer must not reach the next job.
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, stream.fileno())
                os.close(nothing)
                stream.flush()
                code = code or _UNWRITTEN
        ctypes.CDLL(None).fflush(None)
        return code

    def _restore(self) -> None:
        """Restore what each request finds at its start."""
        os.fchdir(self._folder)
        os.umask(self._umask)
        if dict(os.environ) != self._environment:
            os.environ.clear()
            os.environ.update(self._environment)
        sys.argv = [self._program, *self._fixed_arguments]
        stdin, stdout, stderr = self._streams
        sys.stdin = _stream(0) if stdin is None or stdin.closed else stdin
        sys.stdout = _stream(1) if stdout is None or stdout.closed else stdout
        sys.stderr = _stream(2) if stderr is None or stderr.closed else stderr
        self._streams = (sys.stdin, sys.stdout, sys.stderr)

    def _answer(self, answer: dict[str, Any]) -> None:
        import json  # noqa: PLC0415

        text = (json.dumps(answer) + "\n").encode()
        while text:
            text = text[os.write(self._answers, text) :]


def _duplicate(descriptor: int, *, close: bool = False) -> int:
    """Return a copy of a descriptor that ``main`` and its children do not use.

    ``close`` closes the original.
    """
    import fcntl  # noqa: PLC0415

    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_DESCRIPTOR)
    if close:
        os.close(descriptor)
    return copy


def _stream(descriptor: int) -> Any:
    mode, buffering = ("w" if descriptor else "r"), (1 if descriptor == _STDERR else -1)
    return open(descriptor, mode, buffering=buffering, closefd=False)


def _content(descriptor: int) -> str:
    """Return the content of a file. Bytes that are not UTF-8 become surrogates."""
    size = os.fstat(descriptor).st_size
    pieces = list[bytes]()
    while size:
        piece = os.pread(descriptor, size, sum(map(len, pieces)))
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces).decode(errors="surrogateescape")


def _print_exception() -> None:
    """Print an exception as Python does when a program fails."""
    if sys.stderr is not None and not sys.stderr.closed:
        sys.excepthook(*sys.exc_info())
