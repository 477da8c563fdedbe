"""JavaScript on this node: node.js, isolated by bubblewrap where possible."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from pilot.isolation.sandbox.bubblewrap import (
    MountKind,
    MountPoint,
    Namespaces,
    build_limit_prefix,
    mount_read_only,
)
from pilot.isolation.sandbox.seccomp import Filter
from sluice.contracts.common.base import Contract
from sluice.text.os_errors import os_error_sentence

#: Limits in MiB: the JavaScript heap, and all data of the process.
HEAP, MEMORY = 512, 1280

_PROGRAM = Path(__file__).with_name("expressions.js")
_PROBE_SECONDS = 20.0
_NOBODY = 65534
_LIMITS = {"core": 0, "data": MEMORY << 20}
_LIBRARIES = tuple(
    f"{above}/lib{kind}" for above in ("/usr", "") for kind in ("", "32", "64", "x32")
)
_FLAGS = (f"--max-old-space-size={HEAP}", "--no-addons")


class JavaScript(Contract):
    """How expressions are evaluated.

    Attributes:
        command: The program. Empty if none is usable.
        namespaces: The sandbox, in which it sees libraries only, no network and no processes. None
            if there is no sandbox.
        reason: Why there is no program or no sandbox.
        limit: The time limit for each expression in seconds.
    """

    command: list[str] = Field(default_factory=list)
    namespaces: Namespaces | None = None
    reason: str = ""
    limit: float = 20.0

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the process, which waits for expressions.

        Raises:
            OSError: The process could not be started.
        """
        pipe = subprocess.PIPE
        if self.namespaces is not None:
            return self.namespaces.start(self.command, streams=(pipe, pipe, pipe))
        return subprocess.Popen(
            [*build_limit_prefix(_LIMITS), *self.command],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd="/",
            env={},
            bufsize=0,
        )


def find_javascript(*, sandbox_required: bool) -> JavaScript:
    """Return a way to evaluate JavaScript that works on this node.

    Each candidate on the PATH is tried. With ``sandbox_required``, JavaScript without a sandbox is
    not accepted.
    """
    program = shutil.which("nodejs") or shutil.which("node")
    if program is None:
        return JavaScript(reason="there is no node.js on this node's PATH")
    node = os.path.realpath(program)
    command = [node, *_FLAGS, "--eval", _PROGRAM.read_text()]
    bubblewrap = shutil.which("bwrap")
    reason = "there is no bubblewrap (bwrap) on this node's PATH"
    if bubblewrap is not None:
        result = _find_working(
            JavaScript(command=command, namespaces=namespaces)
            for namespaces in _list_sandboxes(bubblewrap, node)
        )
        if result.javascript is not None:
            return result.javascript
        reason = f"bubblewrap does not work on this node: {result.error}"
    if sandbox_required:
        return JavaScript(reason=f"this pilot evaluates JavaScript in a sandbox only, and {reason}")
    result = _find_working(
        JavaScript(command=[*prefix, *command[1:]], reason=reason)
        for prefix in _list_restricted_commands(node)
    )
    return result.javascript or JavaScript(
        reason=f"node.js does not work on this node: {result.error}"
    )


@dataclass(frozen=True, slots=True)
class _ProbeResult:
    javascript: JavaScript | None
    error: str


def _find_working(candidates: Iterator[JavaScript]) -> _ProbeResult:
    problem = ""
    for candidate in candidates:
        try:
            process = candidate.start()
        except OSError as error:
            problem = problem or os_error_sentence(error)
            continue
        try:
            out, errors = process.communicate(
                b'{"id":"probe","code":"6*7"}\n', timeout=_PROBE_SECONDS
            )
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            problem = problem or f"no answer within {_PROBE_SECONDS:g} s"
            continue
        if out == b'{"id":"probe","value":42}\n':
            return _ProbeResult(candidate, "")
        lines = errors.decode(errors="replace").strip().splitlines()
        problem = problem or (lines[0][:300] if lines else f"exit status {process.returncode}")
    return _ProbeResult(None, problem)


def _list_sandboxes(bubblewrap: str, node: str) -> Iterator[Namespaces]:
    """Yield sandboxes, the strictest first.

    Older releases of bubblewrap have fewer options. Some builds of node.js need the libraries that
    they came with.
    """
    own_libraries = os.path.join(os.path.dirname(os.path.dirname(node)), "lib")
    for nested in (False, True):
        for libraries in (_LIBRARIES, (*_LIBRARIES, own_libraries)):
            yield Namespaces(
                bubblewrap=bubblewrap,
                mounts=_create_mounts(node, libraries),
                user=_NOBODY,
                nested=nested,
                calls=Filter.JAVASCRIPT,
                limits=_LIMITS,
            )


def _create_mounts(node: str, libraries: Sequence[str]) -> list[MountPoint]:
    """Return the mount points: node.js and libraries, read-only, and nothing else.

    There is no /proc, no /tmp, no other program and no device. A pilot that runs as root would own
    devices, and so would its processes.
    """
    return [
        *mount_read_only(path for path in (*libraries, node) if os.path.lexists(path)),
        MountPoint(kind=MountKind.CLOSED, path="/"),
    ]


def _list_restricted_commands(node: str) -> Iterator[list[str]]:
    """Yield commands that use node.js's own permission model, the strictest first.

    They prevent access to files and programs unless the model is bypassed. The network stays open.
    A pilot that runs as root gives up its rights.
    """
    nobody = [
        "setpriv",
        f"--reuid={_NOBODY}",
        f"--regid={_NOBODY}",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
    ]
    users = [nobody, []] if os.geteuid() == 0 else [[]]
    for user in users:
        for permission in (["--permission"], ["--experimental-permission"], []):
            yield ["/usr/bin/env", "-i", *user, node, *permission, "--no-warnings"]
