"""Programs that run as the user of a slot."""

import os
import socket
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pilot
from pilot.isolation.sandbox.bare_python import bare_environment, bare_python
from pilot.isolation.sandbox.channel import Channel
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.seccomp import Filter, filter_program
from pilot.isolation.users import launcher
from pilot.isolation.users.slot_user import SlotUser
from sluice.text.os_errors import reason_of

#: The folder in which the package is found.
_PACKAGE_FOLDER = str(Path(pilot.__file__).parent.parent)


class SlotUserError(Exception):
    """A program could not be started as its user. The program is not at fault.

    The message is a sentence.
    """


class UserPrograms:
    """Starts programs as a user with a launcher process, which starts when needed.

    This process must be a subreaper.
    """

    def __init__(self, user: SlotUser) -> None:
        self.user = user
        self._calls = filter_program(Filter.TOOL)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Channel | None = None

    @property
    def pids(self) -> frozenset[int]:
        """Return the pid of the launcher, if it runs."""
        return frozenset() if self._process is None else frozenset({self._process.pid})

    def start(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str,
        streams: Sequence[int],
        limits: ProcessLimits,
    ) -> int:
        """Start a program as a child of this process in its own session, and return its pid.

        ``streams`` are descriptors of standard input, output and error.

        Raises:
            OSError: The program could not be executed.
            SlotUserError: The launcher has failed.
        """
        answer = self._request(
            {
                "arguments": list(arguments),
                "environment": dict(environment),
                "folder": folder,
                "limits": (self.user.limits | limits).as_numbers(),
                "calls": None if self._calls is None else self._calls.hex(),
            },
            streams,
        )
        if "pid" not in answer:
            raise SlotUserError("the process that starts it had no process left")
        if "errno" in answer:
            os.waitpid(answer["pid"], 0)
            raise OSError(answer["errno"], os.strerror(answer["errno"]), arguments[0])
        return int(answer["pid"])

    def tidy_up(self) -> None:
        """End all processes of the user and remove its files from the system's shared folders.

        Raises:
            SlotUserError: The launcher has failed.
        """
        self._request({}, ())

    def close(self) -> None:
        """End the launcher."""
        process, self._process = self._process, None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.wait()

    def _request(self, request: dict[str, Any], streams: Sequence[int]) -> dict[str, Any]:
        user = {"uid": self.user.uid, "gid": self.user.gid}
        try:
            connection = self._connect()
            connection.send(request | user, streams)
            return connection.receive()[0]
        except (EOFError, OSError) as error:
            self.close()
            raise SlotUserError(
                f"the process that starts it has ended: {reason_of(error)}"
            ) from error

    def _connect(self) -> Channel:
        if self._connection is None:
            own_end, other_end = socket.socketpair()
            self._connection = Channel(own_end)
            with other_end:
                self._process = subprocess.Popen(
                    bare_python(
                        launcher.__name__, other_end.fileno(), package_folder=_PACKAGE_FOLDER
                    ),
                    stdin=subprocess.DEVNULL,
                    pass_fds=(other_end.fileno(),),
                    env=bare_environment(),
                    cwd="/",
                )
        return self._connection
