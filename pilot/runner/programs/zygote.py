"""Pre-forked processes for jobs that run Python code of the pilot.

The start and imports of Python take longer than many such jobs. One process waits. When it is told
what to run, it leaves another waiting process behind and becomes the job. Each job is therefore a
child of the slot, and no job is forked from a process with threads.
"""

import json
import logging
import os
import runpy
import signal
import socket
import sys
import tempfile
import traceback
from dataclasses import asdict
from typing import NoReturn

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.runner.programs.oom_priority import set_oom_priority
from pilot.runner.programs.program import Program, start_child

_MAX_REQUEST = 1 << 16


class Zygote:
    """The waiting process of a slot, forked before the slot has threads.

    If it is lost, jobs start a new Python.
    """

    def __init__(self) -> None:
        self._connection, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._waiting_pid = os.fork()
        if self._waiting_pid == 0:
            self._connection.close()
            _serve(other_end)
        other_end.close()

    @property
    def pids(self) -> frozenset[int]:
        """Return the pid of the waiting process."""
        return frozenset({self._waiting_pid})

    def start(self, program: Program, limits: ProcessLimits) -> int:
        """Run ``python -m MODULE …`` as a child in its own session, and return its pid.

        The child sets its limits before it runs the module, so all that it starts have them.

        Raises:
            OSError: The program could not be started.
        """
        request = json.dumps(
            [program.arguments[2:], program.environment, program.folder, asdict(limits)]
        ).encode()
        try:
            with open(os.devnull, "rb") as devnull:
                stdin = (
                    devnull.fileno() if isinstance(program.stdin, int) else program.stdin.fileno()
                )
                socket.send_fds(
                    self._connection, [request], [stdin, program.stdout, program.stderr]
                )
            next_pid = self._connection.recv(32)
        except OSError:
            next_pid = b""
        if not next_pid:
            return start_child(program, limits)
        pid, self._waiting_pid = self._waiting_pid, int(next_pid)
        return pid


def _serve(connection: socket.socket) -> NoReturn:
    try:
        while True:
            request, descriptors, _, _ = socket.recv_fds(connection, _MAX_REQUEST, 3)
            if not request:
                os._exit(0)
            if not _fork_successor(connection):
                arguments, environment, folder, limits = json.loads(request)
                _run_module(
                    arguments, environment, folder, descriptors, limits=ProcessLimits(**limits)
                )
            for descriptor in descriptors:
                os.close(descriptor)
    finally:
        os._exit(1)


def _fork_successor(connection: socket.socket) -> bool:
    """Fork another waiting process and return True in it.

    It is a grandchild, which the slot adopts.
    """
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return False
    if os.fork():
        os._exit(0)
    connection.send(str(os.getpid()).encode())
    return True


def _run_module(
    arguments: list[str],
    environment: dict[str, str],
    folder: str,
    descriptors: list[int],
    *,
    limits: ProcessLimits,
) -> NoReturn:
    """Run a module as a new Python with ``-m`` would, but with its imports already done."""
    os.setsid()
    set_oom_priority()
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None
    logging.basicConfig(force=True, level=logging.WARNING, format="%(message)s")
    for handler in logging.root.handlers:
        handler.addFilter(_has_no_own_handler)
    logging.getLogger("cwltool").setLevel(logging.INFO)
    limits.restrict()
    status = 1
    try:
        sys.argv = ["", *arguments[1:]]
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:  # Like Python, print the exception and exit with status 1.
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _has_no_own_handler(record: logging.LogRecord) -> bool:
    """Return whether no handler of the logger's own, such as cwltool's, has logged the record."""
    return not logging.getLogger(record.name).handlers
