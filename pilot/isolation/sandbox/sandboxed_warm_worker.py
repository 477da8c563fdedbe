"""Warm worker in its own sandbox.

Its inputs change while it runs, and it is stopped between jobs.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox import Sandbox, SandboxOptions
from pilot.isolation.sandbox.sandbox_instance import (
    SandboxedProgram,
    SandboxError,
    SandboxInstance,
    Usage,
)
from pilot.isolation.sandbox.view import View, VisibleFile

_TMP = "/tmp"  # noqa: S108 - the program's own


class SandboxedWarmWorker:
    """A warm worker in a sandbox.

    ``inputs`` are paths of files elsewhere that the first job sees.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        sources: Sequence[str],
        options: SandboxOptions,
        inputs: Sequence[str],
    ) -> None:
        self._sandbox = sandbox
        self._sources = sources
        self._options = options
        self._inputs = dict.fromkeys(inputs)
        self._folders: list[str] = []
        #: Inputs that are where no other files can be shown.
        self._fixed: frozenset[str] = frozenset()
        self._instance: SandboxInstance | None = None
        self._running: SandboxedProgram | None = None
        #: Pid of the program once it has been started.
        self.pid = 0

    @property
    def pids(self) -> frozenset[int]:
        """Return the children of this process that belong to the sandbox."""
        return frozenset() if self._instance is None else self._instance.pids

    @property
    def running(self) -> SandboxedProgram:
        """Return the running program."""
        if self._running is None:
            raise SandboxError("the program has not been started")
        return self._running

    @property
    def ways(self) -> frozenset[str]:
        """Return the names in its /tmp that lead to folders of inputs."""
        return frozenset(
            folder.split("/")[2] for folder in self._folders if folder.startswith(f"{_TMP}/")
        )

    def start(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: str,
        streams: Sequence[int],
        limits: ProcessLimits,
        view: View,
    ) -> None:
        """Start the program.

        ``streams`` are descriptors of standard input, output and error. ``view`` has no files
        elsewhere.

        Raises:
            OSError: The program does not exist or is not executable.
            SandboxError: The sandbox has failed.
        """
        places = [point.path for point in self._sandbox.system]
        places += [file.path for file in view.files] + list(view.links)
        parents = {path: find_changing_folder(path, places) for path in self._inputs}
        self._folders = list(dict.fromkeys(filter(None, parents.values())))
        self._fixed = frozenset(path for path, parent in parents.items() if parent is None)
        folders = [os.path.dirname(os.path.realpath(path)) for path in self._inputs]
        sources = dict.fromkeys(
            find_changing_folder(f"{source}/x", places) or source for source in folders
        )
        self._instance = SandboxInstance(self._sandbox, [*self._sources, *sources], self._options)
        files = [*view.files, *(VisibleFile(path, os.path.realpath(path)) for path in self._fixed)]
        self._running = self._instance.start(
            arguments,
            environment=environment,
            folder=folder,
            streams=streams,
            limits=limits,
            view=replace(view, files=files, changing=self._folders),
            stdin=None,
        )
        self.pid = _find_program(self._running.root)
        if not self.show(list(self._inputs)):
            raise SandboxError("its inputs cannot be seen in it")

    def show(self, inputs: Sequence[str]) -> bool:
        """Show these files elsewhere and no others.

        Returns:
            False if a file cannot be shown or the program has ended.

        Raises:
            SandboxError: A file could not be mounted.
        """
        instance = self._instance
        if instance is None or {*self._fixed} - {*inputs}:
            return False
        files: list[tuple[str, int, str]] = []
        for path in dict.fromkeys(inputs):
            if path in self._fixed:
                continue
            source = instance.find_inside(os.path.realpath(path))
            number = next(
                (n for n, folder in enumerate(self._folders) if path.startswith(f"{folder}/")), None
            )
            if source is None or number is None:
                return False
            files.append((source, number, path[len(self._folders[number]) + 1 :]))
        if not self._folders:
            return True
        trouble = self.running.ask({"show": files}).get("shown")
        if trouble:
            raise SandboxError(f"an input cannot be seen: {trouble}")
        return trouble == ""

    def pause(self) -> None:
        """Stop the program with all its processes, and kill its orphans."""
        self.running.ask({"pause": True})

    def resume(self) -> None:
        """Let the program run again."""
        self.running.tell({"pause": False})

    def end(self) -> Usage:
        """End the program, if necessary, and return its total resource usage."""
        self.running.signal(signal.SIGKILL)
        usage = self.running.end()
        self.close()
        return usage

    def close(self) -> None:
        """End the sandbox with all processes, unless that is done."""
        if self._instance is not None:
            self._instance.close()


def _find_program(bubblewrap: int) -> int:
    """Return the pid of the program that the holder has started.

    Raises:
        SandboxError: The program has already ended.
    """
    try:
        pids = [bubblewrap]
        for _ in range(2):
            [parent] = pids
            threads = os.listdir(f"/proc/{parent}/task")
            files = [Path(f"/proc/{parent}/task/{thread}/children") for thread in threads]
            pids = [int(pid) for file in files for pid in file.read_text().split()]
        return pids[0]
    except (OSError, LookupError, ValueError) as error:
        raise SandboxError("it has ended before it had begun") from error


def find_changing_folder(path: str, places: Sequence[str]) -> str | None:
    """Return the folder whose files can change together with ``path``.

    It is the parent of the data sets' folders, or the file's own folder.

    Returns:
        None if anything else is visible in the folder, or if it is in something visible.
    """
    own = os.path.dirname(path)
    for folder in (os.path.dirname(own), own):
        if folder.count("/") > 1 and not any(_overlap(folder, place) for place in places):
            return folder
    return None


def _overlap(folder: str, place: str) -> bool:
    if place == "/":
        return False
    if f"{folder}/".startswith(f"{place}/"):
        return place != _TMP or folder == _TMP
    return place.startswith(f"{folder}/")
