"""Launcher of programs as another user: ``main(DESCRIPTOR)``.

Programs become children of the process that it works for, which must be a subreaper. The launcher
uses only Python's standard library. It stays root, so that programs cannot affect it. For each
program, a separate process changes to the user before anything chosen by the program's author
runs.
"""

import contextlib
import os
import shutil
import signal
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pilot.isolation.sandbox.channel import Channel
from pilot.isolation.sandbox.kernel import (
    drop_bounding_set,
    filter_calls,
    forbid_new_rights,
    lower_limit,
)
from pilot.isolation.sandbox.tool_root import find_program

#: Folders of the system that everybody may write to.
_SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - only removes files
_NUMBER = struct.Struct("=i")
#: Signals whose actions Python or this process changes.
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT)


def _start(request: Mapping[str, Any], streams: Sequence[int]) -> dict[str, Any]:
    """Start a program.

    The answer has the ``pid``, and ``errno`` if the program could not be executed and its process
    has ended.
    """
    reading, writing = os.pipe()
    intermediate = os.fork()
    if intermediate == 0:
        # The process that this one works for adopts orphans.
        try:
            if os.fork() == 0:
                _execute(request, streams, writing)
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(intermediate, 0)
    with open(reading, "rb") as report:
        numbers = [number for (number,) in _NUMBER.iter_unpack(report.read())]
    return dict(zip(("pid", "errno"), numbers, strict=False))


def _execute(request: Mapping[str, Any], streams: Sequence[int], report: int) -> NoReturn:
    """Execute the program, or report the error."""
    try:
        os.write(report, _NUMBER.pack(os.getpid()))
        os.setsid()
        for target, descriptor in enumerate(streams):
            os.dup2(descriptor, target)
        for number, limit in request["limits"]:
            lower_limit(number, limit)
        for number in _DEFAULT_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        _change_user(request["uid"], request["gid"])
        if request["calls"] is not None:
            filter_calls(bytes.fromhex(request["calls"]))
        os.chdir(request["folder"])
        arguments, environment = request["arguments"], request["environment"]
        os.execve(find_program(arguments[0], environment), arguments, environment)  # noqa: S606 - the tool's program
    except OSError as error:
        os.write(report, _NUMBER.pack(error.errno or 0))
    finally:
        os._exit(127)


def _change_user(uid: int, gid: int) -> None:
    """Change the user of this process permanently.

    Raises:
        OSError: The user could not be changed.
    """
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _tidy_up(uid: int, gid: int) -> None:
    """End all processes of the user and remove its files from folders of the system.

    A child with only the user's rights does this. Processes end, no matter which user started them.
    """
    exit_code = -signal.SIGKILL
    while exit_code < 0:  # The child was killed by one of them.
        child = os.fork()
        if child == 0:
            try:
                _change_user(uid, gid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
                _remove_files(uid)
            finally:
                os._exit(0)
        exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _remove_files(uid: int) -> None:
    for place in _SHARED_FOLDERS:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_uid != uid:
                    continue
                with contextlib.suppress(OSError, RecursionError):
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path)
                    else:
                        os.unlink(entry.path)


def main(descriptor: int) -> None:
    """Start programs on request until the connection is closed."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(descriptor, False)
    # It is enough once, as the launcher never executes another program itself.
    forbid_new_rights()
    # Without the permission, nothing can be gained anyway.
    with contextlib.suppress(PermissionError):
        drop_bounding_set()
    connection = Channel(socket.socket(fileno=descriptor))
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            request, streams = connection.receive()
            answer: dict[str, Any] = {}
            if streams:
                answer = _start(request, streams)
            else:
                _tidy_up(request["uid"], request["gid"])
            for stream in streams:
                os.close(stream)
            connection.send(answer)
