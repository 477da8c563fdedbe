"""How JavaScript is evaluated on this node: by node.js, shut up by bubblewrap where that is."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from pilot.sandbox.seccomp import Filter, filter_program
from sluice.contracts.base import Contract

#: Most memory of JavaScript's objects, and of all that the process holds, MiB.
HEAP, MEMORY = 512, 1280

_PROGRAM = Path(__file__).with_name("expressions.js")
#: Stands where the descriptor of the filter comes.
_FILTER = "{filter}"
_PROBE_SECONDS = 20.0
#: dash and others take one limit a call: no core file; memory, in KiB.
_LIMITED = 'ulimit -c 0; ulimit -d "$0"; exec "$@"'


class JavaScript(Contract):
    """``command``: the program that evaluates expressions; empty: there is none that may, for
    ``reason``. ``contained``: it sees no file but libraries, no network, no process; ``reason``
    says why where it is not. ``limit``: seconds for each."""

    command: list[str] = Field(default_factory=list)
    contained: bool = False
    reason: str = ""
    limit: float = 20.0

    def start(self) -> "subprocess.Popen[bytes]":
        """The process, waiting for expressions. Raises ``OSError``."""
        program = filter_program(Filter.JAVASCRIPT) if _FILTER in self.command else None
        if program is None:
            return _start(self.command)
        descriptor = os.memfd_create("filter")
        try:
            os.write(descriptor, program)
            os.lseek(descriptor, 0, os.SEEK_SET)
            return _start(
                [str(descriptor) if part == _FILTER else part for part in self.command],
                [descriptor],
            )
        finally:
            os.close(descriptor)


def find_javascript(*, sandbox_required: bool) -> JavaScript:
    """Tries what is on the PATH for real. ``sandbox_required``: uncontained is not good enough."""
    node = shutil.which("nodejs") or shutil.which("node")
    if node is None:
        return JavaScript(reason="there is no node.js on this node's PATH")
    bubblewrap = shutil.which("bwrap")
    why = "there is no bubblewrap (bwrap) on this node's PATH"
    if bubblewrap is not None:
        tried = _first_that_works(
            JavaScript(command=command, contained=True) for command in _sandboxes(bubblewrap, node)
        )
        if tried.found is not None:
            return tried.found
        why = f"bubblewrap does not work on this node: {tried.said}"
    if sandbox_required:
        return JavaScript(reason=f"this pilot evaluates JavaScript in a sandbox only, and {why}")
    tried = _first_that_works(
        JavaScript(command=command, reason=why) for command in _restricted(node)
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


def _sandboxes(bubblewrap: str, node: str) -> Iterator[list[str]]:
    """Strictest first: older releases of bubblewrap know less, and some node.js needs the libraries
    it came with."""
    program = os.path.realpath(node)
    own_libraries = os.path.join(os.path.dirname(os.path.dirname(program)), "lib")
    alone = [
        "--unshare-all",
        "--unshare-user",
        "--uid",
        "65534",
        "--gid",
        "65534",
        "--cap-drop",
        "ALL",
        "--clearenv",
    ]
    calls = ["--seccomp", _FILTER] if filter_program(Filter.JAVASCRIPT) is not None else []
    run = ["--", program, *_flags(), "--eval", _PROGRAM.read_text()]
    for shut in (["--disable-userns"], []):
        for libraries in ([], [own_libraries]):
            mounts = _mounts(program, libraries)
            yield _limited(
                [
                    bubblewrap,
                    *alone,
                    *shut,
                    "--die-with-parent",
                    "--new-session",
                    *mounts,
                    *calls,
                    *run,
                ]
            )


def _mounts(program: str, libraries: Sequence[str]) -> list[str]:
    """node.js and libraries, read-only; nothing else: neither /proc nor /tmp, nor any other
    program."""
    options: list[str] = []
    for folder in (
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/libx32",
        "/lib",
        "/lib32",
        "/lib64",
        "/libx32",
        *libraries,
    ):
        if os.path.islink(folder):
            options += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            options += ["--ro-bind", folder, folder]
    devices = [
        part
        for name in ("null", "urandom")
        for part in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    ]
    return [*options, "--ro-bind", program, program, *devices, "--remount-ro", "/", "--chdir", "/"]


def _restricted(node: str) -> Iterator[list[str]]:
    """By node.js's own means: no files and no programs, as long as nothing gets round them; the
    network is open. A pilot that is root gives its rights up for it."""
    nobody = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
    ]
    users = [nobody, []] if os.geteuid() == 0 else [[]]
    for user in users:
        for permission in (["--permission"], ["--experimental-permission"], []):
            run = [
                os.path.realpath(node),
                *permission,
                "--no-warnings",
                *_flags(),
                "--eval",
                _PROGRAM.read_text(),
            ]
            yield _limited(["/usr/bin/env", "-i", *user, *run])


def _flags() -> list[str]:
    return [f"--max-old-space-size={HEAP}", "--no-addons"]


def _limited(command: list[str]) -> list[str]:
    return ["/bin/sh", "-c", _LIMITED, str(MEMORY * 1024), *command]


def _start(command: Sequence[str], descriptors: Sequence[int] = ()) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=descriptors,
        cwd="/",
        env={},
        bufsize=0,
    )
