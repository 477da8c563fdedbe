"""How JavaScript is evaluated on this node: by node.js, shut up by bubblewrap where that is."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from pilot.sandbox.bubblewrap import MountKind, MountPoint, Namespaces, limited, to_read
from pilot.sandbox.seccomp import Filter
from sluice.contracts.base import Contract

#: Most memory of JavaScript's objects, and of all that the process holds, MiB.
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
    """``command``: the program that evaluates expressions; empty: there is none that may, for
    ``reason``. ``namespaces``: in which it sees no file but libraries, no network, no process;
    None: it runs without, for ``reason``. ``limit``: seconds for each."""

    command: list[str] = Field(default_factory=list)
    namespaces: Namespaces | None = None
    reason: str = ""
    limit: float = 20.0

    def start(self) -> "subprocess.Popen[bytes]":
        """The process, waiting for expressions. Raises ``OSError``."""
        pipe = subprocess.PIPE
        if self.namespaces is not None:
            return self.namespaces.start(self.command, streams=(pipe, pipe, pipe))
        return subprocess.Popen(
            [*limited(_LIMITS), *self.command],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd="/",
            env={},
            bufsize=0,
        )


def find_javascript(*, sandbox_required: bool) -> JavaScript:
    """Tries what is on the PATH for real. ``sandbox_required``: uncontained is not good enough."""
    found = shutil.which("nodejs") or shutil.which("node")
    if found is None:
        return JavaScript(reason="there is no node.js on this node's PATH")
    node = os.path.realpath(found)
    command = [node, *_FLAGS, "--eval", _PROGRAM.read_text()]
    bubblewrap = shutil.which("bwrap")
    why = "there is no bubblewrap (bwrap) on this node's PATH"
    if bubblewrap is not None:
        tried = _first_that_works(
            JavaScript(command=command, namespaces=namespaces)
            for namespaces in _sandboxes(bubblewrap, node)
        )
        if tried.found is not None:
            return tried.found
        why = f"bubblewrap does not work on this node: {tried.said}"
    if sandbox_required:
        return JavaScript(reason=f"this pilot evaluates JavaScript in a sandbox only, and {why}")
    tried = _first_that_works(
        JavaScript(command=[*before, *command[1:]], reason=why) for before in _restricted(node)
    )
    return tried.found or JavaScript(reason=f"node.js does not work on this node: {tried.said}")


@dataclass(frozen=True, slots=True)
class _Tried:
    found: JavaScript | None
    said: str


def _first_that_works(candidates: Iterator[JavaScript]) -> _Tried:
    said = ""
    for candidate in candidates:
        try:
            process = candidate.start()
        except OSError as error:
            said = said or str(error)
            continue
        try:
            out, errors = process.communicate(
                b'{"id":"probe","code":"6*7"}\n', timeout=_PROBE_SECONDS
            )
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            said = said or f"no answer within {_PROBE_SECONDS:g} s"
            continue
        if out == b'{"id":"probe","value":42}\n':
            return _Tried(candidate, "")
        lines = errors.decode(errors="replace").strip().splitlines()
        said = said or (lines[0][:300] if lines else f"exit status {process.returncode}")
    return _Tried(None, said)


def _sandboxes(bubblewrap: str, node: str) -> Iterator[Namespaces]:
    """Strictest first: older releases of bubblewrap know less, and some node.js needs the libraries
    it came with."""
    own_libraries = os.path.join(os.path.dirname(os.path.dirname(node)), "lib")
    for nested in (False, True):
        for libraries in (_LIBRARIES, (*_LIBRARIES, own_libraries)):
            yield Namespaces(
                bubblewrap=bubblewrap,
                mounts=_mounts(node, libraries),
                user=_NOBODY,
                nested=nested,
                calls=Filter.JAVASCRIPT,
                limits=_LIMITS,
            )


def _mounts(node: str, libraries: Sequence[str]) -> list[MountPoint]:
    """node.js and libraries, read-only; nothing else: neither /proc nor /tmp, no other program, and
    no device, which a pilot that is root would own, and so what it has started."""
    return [
        *to_read(path for path in (*libraries, node) if os.path.lexists(path)),
        MountPoint(kind=MountKind.CLOSED, path="/"),
    ]


def _restricted(node: str) -> Iterator[list[str]]:
    """By node.js's own means: no files and no programs, as long as nothing gets round them; the
    network is open. A pilot that is root gives its rights up for it."""
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
