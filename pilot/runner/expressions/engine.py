"""Evaluation of the expressions of templates.

The node's isolated JavaScript evaluates each expression within a time limit, in one process for
each tool.
"""

import json
import os
import secrets
import selectors
import subprocess
import threading
import time
from typing import Any, NoReturn, cast

from cwl_utils.errors import JavascriptException
from cwl_utils.sandboxjs import NodeJSEngine, code_fragment_to_js, get_js_engine, set_js_engine

from pilot.runner.expressions.javascript import MEMORY, JavaScript
from sluice.cwl_values import MAX_JSON, find_unstorable_part, read_json
from sluice.text.os_errors import reason_of

_MAX_ERROR_BYTES = 4096
_CHUNK = 1 << 16
#: Maximum length of an expression in a message.
_MAX_QUOTED = 200


class ExpressionLimitError(JavascriptException):  # type: ignore[misc] # cwl-utils' types are not followed
    """An expression exceeded a limit or ended its process.

    The next attempt would fail in the same way.
    """


class ContainedEngine(NodeJSEngine):  # type: ignore[misc]
    """JavaScript engine for cwltool in an isolated process.

    The process serves many expressions of one tool, but never another tool. An expression that
    breaks out of its context can only affect its own template.
    """

    def __init__(self, javascript: JavaScript) -> None:
        super().__init__()
        #: The reason why the last expression since ``use`` was ended, or None.
        self.violation: str | None = None
        self.javascript = javascript
        self._owner: object = None
        self._process: subprocess.Popen[bytes] | None = None
        self._answers = 0
        self._lock = threading.Lock()

    @property
    def missing_reason(self) -> str | None:
        """Return why no expression can be evaluated, or None."""
        return None if self.javascript.command else self.javascript.reason

    @property
    def pids(self) -> frozenset[int]:
        """Return the pid of the process, if it runs."""
        return frozenset() if self._process is None else frozenset({self._process.pid})

    def use(self, owner: object) -> None:
        """Evaluate for another tool from now on, and end the process of the previous tool."""
        self.violation = None
        if owner is not self._owner:
            self.end()
        self._owner = owner

    def end(self) -> None:
        """End the process. The next expression starts another."""
        process, self._process, self._answers = self._process, None, 0
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                cast(Any, pipe).close()

    def eval(self, scan: str, jslib: str = "", **_: Any) -> Any:
        """Evaluate an expression.

        Raises:
            JavascriptException: The expression has failed.
            ExpressionLimitError: The expression exceeded its limit of time or memory.
        """
        with self._lock:
            return self._evaluate(scan, code_fragment_to_js(scan, jslib))

    def new_js_proc(self, *_: Any, **__: Any) -> Any:
        """Refuse to start JavaScript without isolation."""
        raise NotImplementedError("no uncontained JavaScript")

    def exec_js_process(self, *_: Any, **__: Any) -> Any:
        """Refuse to run JavaScript without isolation."""
        raise NotImplementedError("no uncontained JavaScript")

    def _evaluate(self, scan: str, code: str) -> Any:
        if self.missing_reason is not None:
            raise JavascriptException(self.missing_reason)
        answer = self._request_answer(scan, code)
        if answer is None:
            answer = self._request_answer(scan, code)
        if answer is None or "error" in answer:
            raise JavascriptException(
                f"the expression {_quote(scan)} failed: {str((answer or {}).get('error'))[:2000]}"
            )
        unstorable = find_unstorable_part(answer["value"])
        if unstorable is not None:
            self._raise_limit_error(
                f"the expression {_quote(scan)} returned an unusable value: {unstorable}"
            )
        return answer["value"]

    def _request_answer(self, scan: str, code: str) -> dict[str, Any] | None:
        """Return the answer of the process.

        Returns:
            None if the process has ended and an earlier expression may be the cause.
        """
        process, earlier = self._ensure_process(), self._answers
        request = secrets.token_hex(8)
        exchange = _Exchange(
            process,
            json.dumps({"id": request, "code": code}).encode() + b"\n",
            self.javascript.limit,
        )
        try:
            answer = exchange.answer(request)
        except TimeoutError:
            self._raise_limit_error(
                f"the expression {_quote(scan)} took longer than its limit of"
                f" {self.javascript.limit:g} s"
            )
        except EOFError:
            if earlier:
                self.end()
                return None
            self._raise_end_error(scan, process.wait(), exchange.error_output)
        except (ValueError, RecursionError) as error:
            self._raise_limit_error(
                f"the expression {_quote(scan)} returned no usable answer: {reason_of(error)}"
            )
        self._answers += 1
        return answer

    def _ensure_process(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = self.javascript.start()
        return self._process

    def _raise_end_error(self, scan: str, status: int, error_output: str) -> NoReturn:
        if status in {-9, 137}:  # The system, short of memory, killed it.
            self.end()
            raise JavascriptException(f"node.js was killed at the expression {_quote(scan)}")
        if "heap" in error_output or "memory" in error_output:
            self._raise_limit_error(
                f"the expression {_quote(scan)} took more than its {MEMORY} MiB of memory"
            )
        self._raise_limit_error(
            f"the expression {_quote(scan)} ended node.js, with status {status}:"
            f" {error_output[-300:]}"
        )

    def _raise_limit_error(self, sentence: str) -> NoReturn:
        self.end()
        self.violation = sentence
        raise ExpressionLimitError(sentence) from None


class _Exchange:
    """One request and its answer.

    The process may read and write its pipes in any way.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", request: bytes, timeout: float) -> None:
        self._process = process
        self._rest = memoryview(request)
        self._deadline = time.monotonic() + timeout
        self._answer = bytearray()
        self._errors = bytearray()

    @property
    def error_output(self) -> str:
        """Return what the process wrote to its standard error."""
        return self._errors.decode(errors="replace").strip()

    def answer(self, request: str) -> dict[str, Any]:
        """Send the request and return the answer.

        Raises:
            TimeoutError: There was no answer in time.
            EOFError: The process has ended.
            ValueError: The process wrote something else.
        """
        stdin, stdout, stderr = (
            cast(Any, pipe)
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        for pipe in (stdin, stdout, stderr):
            os.set_blocking(pipe.fileno(), False)
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE, self._write)
            selector.register(stdout, selectors.EVENT_READ, self._read)
            selector.register(stderr, selectors.EVENT_READ, self._read_errors)
            while not self._answer.endswith(b"\n"):
                remaining = self._deadline - time.monotonic()
                if remaining <= 0:
                    raise TimeoutError
                for key, _ in selector.select(remaining):
                    if not key.data(key.fd):
                        selector.unregister(key.fileobj)
                if stdout not in selector.get_map():
                    self._errors += _read_rest(stderr)
                    raise EOFError
        answer = read_json(bytes(self._answer))
        if (
            not isinstance(answer, dict)
            or answer.get("id") != request
            or not {"value", "error"} & answer.keys()
        ):
            raise ValueError("it wrote something else")
        return answer

    def _write(self, descriptor: int) -> bool:
        try:
            self._rest = self._rest[os.write(descriptor, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return bool(self._rest)

    def _read(self, descriptor: int) -> bool:
        piece = os.read(descriptor, _CHUNK)
        self._answer += piece
        if len(self._answer) > MAX_JSON:
            raise ValueError(f"it is longer than {MAX_JSON >> 20} MiB")
        return bool(piece)

    def _read_errors(self, descriptor: int) -> bool:
        piece = os.read(descriptor, _CHUNK)
        self._errors = (self._errors + piece)[-_MAX_ERROR_BYTES:]
        return bool(piece)


def _read_rest(pipe: Any) -> bytes:
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except OSError:
        return b""


def _quote(scan: str) -> str:
    """Return the expression as it is written in the template, shortened."""
    text = " ".join(f"${scan}".split())
    return text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + " …"


def install_engine(javascript: JavaScript) -> ContainedEngine:
    """Make cwltool evaluate with this engine, in this process and its forks."""
    engine = ContainedEngine(javascript)
    set_js_engine(engine)
    return engine


def get_engine() -> ContainedEngine:
    """Return the installed engine."""
    return cast(ContainedEngine, get_js_engine())


def list_expression_processes() -> frozenset[int]:
    """Return the pids of processes that evaluate expressions for many jobs."""
    return get_engine().pids
