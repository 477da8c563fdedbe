"""Starts programs as another user, each as a child of the process that this one works for: that has
to adopt orphans. ``main(DESCRIPTOR)``

It and what it imports need nothing but Python's own library. It stays root, so that nothing that it
starts can touch it, and becomes the user in a process of its own for each program, before anything
that the program's author has chosen comes into play.
"""

import contextlib
import os
import shutil
import signal
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from pilot.sandbox.channel import Channel
from pilot.sandbox.kernel import drop_bounding_set, filter_calls, gain_nothing, lower_limit
from pilot.sandbox.room import program_file

#: Folders of the system that everybody may write to.
_COMMON = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - what is the user's there is removed
_NUMBER = struct.Struct("=i")
#: What Python changes for itself, and this process.
_AS_USUAL = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT)


def _start(request: Mapping[str, Any], streams: Sequence[int]) -> dict[str, Any]:
    """``pid``; ``errno``, where it has ended already because it could not become the program."""
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        # What a process leaves behind is adopted by the one that this one works for.
        try:
            if os.fork() == 0:
                _become(request, streams, writing)
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(between, 0)
    with open(reading, "rb") as told:
        numbers = [number for (number,) in _NUMBER.iter_unpack(told.read())]
    return dict(zip(("pid", "errno"), numbers, strict=False))


def _become(request: Mapping[str, Any], streams: Sequence[int], told: int) -> NoReturn:
    """The program; or it tells why not."""
    try:
        os.write(told, _NUMBER.pack(os.getpid()))
        os.setsid()
        for target, descriptor in enumerate(streams):
            os.dup2(descriptor, target)
        for number, most in request["limits"]:
            lower_limit(number, most)
        for number in _AS_USUAL:
            signal.signal(number, signal.SIG_DFL)
        _change_user(request["uid"], request["gid"])
        if request["calls"] is not None:
            filter_calls(bytes.fromhex(request["calls"]))
        os.chdir(request["folder"])
        arguments, environment = request["arguments"], request["environment"]
        os.execve(program_file(arguments[0], environment), arguments, environment)  # noqa: S606 - the tool's program
    except OSError as error:
        os.write(told, _NUMBER.pack(error.errno or 0))
    finally:
        os._exit(127)


def _change_user(uid: int, gid: int) -> None:
    """For good. Raises ``OSError``."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def _tidy_up(uid: int, gid: int) -> None:
    """Ends all processes of the user, whoever has started them, and removes what they have left
    where everybody may write: with no more rights than the user has."""
    ended = -signal.SIGKILL
    while ended < 0:  # by one of them
        child = os.fork()
        if child == 0:
            try:
                _change_user(uid, gid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
                _remove_files(uid)
            finally:
                os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _remove_files(uid: int) -> None:
    for place in _COMMON:
        with contextlib.suppress(OSError), os.scandir(place) as found:
            for entry in found:
                if entry.stat(follow_symlinks=False).st_uid != uid:
                    continue
                with contextlib.suppress(OSError, RecursionError):
                    if entry.is_dir(follow_symlinks=False):
                        shutil.rmtree(entry.path)
                    else:
                        os.unlink(entry.path)


def main(descriptor: int) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(descriptor, False)
    # Here, once: it becomes no other program itself.
    gain_nothing()
    with contextlib.suppress(PermissionError):  # nothing is gained of it in any case
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
