"""Evaluates the expressions of templates: each in its time, in the node's contained JavaScript, one
process for one tool."""

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
from sluice.os_errors import reason_of
from sluice.storage import MOST_JSON, flaw_in, read_json

_MOST_SAID = 4096
_CHUNK = 1 << 16
#: Characters of an expression that stand in a message.
_MOST_NAMED = 200


class LimitError(JavascriptException):  # type: ignore[misc] # cwl-utils' types are not followed
    """The expression went over a limit, or ended its process: it would at the next attempt, too."""


class ContainedEngine(NodeJSEngine):  # type: ignore[misc]
    """In cwltool's place. The process lives on from one expression to the next, but not from one
    task's tool to another: an expression that breaks out of its context could spoil what comes
    after it, and that is then its own template's."""

    def __init__(self, javascript: JavaScript) -> None:
        super().__init__()
        #: Why the last expression was ended, since ``use``; None: none was.
        self.exceeded: str | None = None
        self.javascript = javascript
        self._owner: object = None
        self._process: subprocess.Popen[bytes] | None = None
        self._answers = 0
        self._lock = threading.Lock()

    @property
    def missing(self) -> str | None:
        """Why no expression can be evaluated; None: they can."""
        return None if self.javascript.command else self.javascript.reason

    @property
    def pids(self) -> frozenset[int]:
        return frozenset() if self._process is None else frozenset({self._process.pid})

    def use(self, owner: object) -> None:
        """What follows is evaluated for that tool."""
        self.exceeded = None
        if owner is not self._owner:
            self.end()
        self._owner = owner

    def end(self) -> None:
        """Ends the process; the next expression starts another."""
        process, self._process, self._answers = self._process, None, 0
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                cast(Any, pipe).close()

    def eval(self, scan: str, jslib: str = "", **_: Any) -> Any:
        """Raises ``JavascriptException``; ``LimitError`` where it took longer than its limit, or
        too much memory."""
        with self._lock:
            return self._evaluate(scan, code_fragment_to_js(scan, jslib))

    def new_js_proc(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("no uncontained JavaScript")

    def exec_js_process(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("no uncontained JavaScript")

    def _evaluate(self, scan: str, code: str) -> Any:
        if self.missing is not None:
            raise JavascriptException(self.missing)
        answer = self._answer(scan, code)
        if answer is None:
            answer = self._answer(scan, code)
        if answer is None or "error" in answer:
            raise JavascriptException(
                f"the expression {_shown(scan)} failed: {str((answer or {}).get('error'))[:2000]}"
            )
        flaw = flaw_in(answer["value"])
        if flaw is not None:
            self._exceed(f"the expression {_shown(scan)} gave what cannot be used: {flaw}")
        return answer["value"]

    def _answer(self, scan: str, code: str) -> dict[str, Any] | None:
        """None where the process has ended, and an expression before this one may be to blame."""
        process, earlier = self._running(), self._answers
        request = secrets.token_hex(8)
        exchange = _Exchange(
            process,
            json.dumps({"id": request, "code": code}).encode() + b"\n",
            self.javascript.limit,
        )
        try:
            answer = exchange.answer(request)
        except TimeoutError:
            self._exceed(
                f"the expression {_shown(scan)} took longer than its limit of"
                f" {self.javascript.limit:g} s"
            )
        except EOFError:
            if earlier:
                self.end()
                return None
            self._ended(scan, process.wait(), exchange.said)
        except (ValueError, RecursionError) as error:
            self._exceed(
                f"the expression {_shown(scan)} gave no answer that can be used: {reason_of(error)}"
            )
        self._answers += 1
        return answer

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = self.javascript.start()
        return self._process

    def _ended(self, scan: str, status: int, said: str) -> NoReturn:
        if status in {-9, 137}:  # by the system, short of memory: not the expression's fault
            self.end()
            raise JavascriptException(f"node.js was killed at the expression {_shown(scan)}")
        if "heap" in said or "memory" in said:
            self._exceed(f"the expression {_shown(scan)} took more than its {MEMORY} MiB of memory")
        self._exceed(
            f"the expression {_shown(scan)} ended node.js, with status {status}: {said[-300:]}"
        )

    def _exceed(self, sentence: str) -> NoReturn:
        self.end()
        self.exceeded = sentence
        raise LimitError(sentence) from None


class _Exchange:
    """One request and its answer, over pipes that the other side may leave as it likes."""

    def __init__(self, process: "subprocess.Popen[bytes]", request: bytes, timeout: float) -> None:
        self._process = process
        self._rest = memoryview(request)
        self._deadline = time.monotonic() + timeout
        self._answer = bytearray()
        self._errors = bytearray()

    @property
    def said(self) -> str:
        """What the process wrote on its standard error."""
        return self._errors.decode(errors="replace").strip()

    def answer(self, request: str) -> dict[str, Any]:
        """Raises ``TimeoutError``, ``EOFError`` where the process has ended, ``ValueError`` for
        anything but the answer."""
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
                left = self._deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                for key, _ in selector.select(left):
                    if not key.data(key.fd):
                        selector.unregister(key.fileobj)
                if stdout not in selector.get_map():
                    self._errors += _rest(stderr)
                    raise EOFError
        found = read_json(bytes(self._answer))
        if (
            not isinstance(found, dict)
            or found.get("id") != request
            or not {"value", "error"} & found.keys()
        ):
            raise ValueError("it wrote something else")
        return found

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
        if len(self._answer) > MOST_JSON:
            raise ValueError(f"it is longer than {MOST_JSON >> 20} MiB")
        return bool(piece)

    def _read_errors(self, descriptor: int) -> bool:
        piece = os.read(descriptor, _CHUNK)
        self._errors = (self._errors + piece)[-_MOST_SAID:]
        return bool(piece)


def _rest(pipe: Any) -> bytes:
    try:
        return os.read(pipe.fileno(), _CHUNK)
    except OSError:
        return b""


def _shown(scan: str) -> str:
    """The expression as it is written in the template, shortened."""
    text = " ".join(f"${scan}".split())
    return text if len(text) <= _MOST_NAMED else text[:_MOST_NAMED] + " …"


def install(javascript: JavaScript) -> ContainedEngine:
    """From here on cwltool evaluates with it, in this process and in those forked of it."""
    engine = ContainedEngine(javascript)
    set_js_engine(engine)
    return engine


def engine() -> ContainedEngine:
    """The one that is installed."""
    return cast(ContainedEngine, get_js_engine())


def expression_processes() -> frozenset[int]:
    """Pids of processes that evaluate expressions; they serve many jobs."""
    return engine().pids
