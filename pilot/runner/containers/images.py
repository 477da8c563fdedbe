"""Container images on the node, each pulled by one process at a time."""

import fcntl
import hashlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pilot.node.engines import Engine, engine_environment
from pilot.runner.containers.engine_calls import call_engine
from pilot.runner.failures import AttemptError, AttemptStoppedError
from pilot.runner.programs.control import SlotControl
from pilot.runner.programs.exit_messages import last_line
from pilot.runner.programs.program import (
    KillReason,
    Program,
    ProgramLimits,
    run_program,
    start_as_child,
)
from sluice.contracts.common.states import ContainerEngine, ErrorClass
from sluice.contracts.jobs.needs import ContainerImage
from sluice.text.visible_text import quoted


class Images:
    """Container images known to a slot.

    ``folder`` holds images and locks, and is shared by all pilots of the node. ``list_others``
    returns the children of the slot that belong to no job.
    """

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        *,
        control: SlotControl,
        list_others: Callable[[], frozenset[int]],
    ) -> None:
        self._engine = engine
        self._folder = folder
        self._control = control
        self._list_others = list_others
        self._names: dict[str, str] = {}

    def pull(self, image: ContainerImage) -> str:
        """Pull an image if the node lacks it, and return its name for the command line.

        Only one process of the node pulls an image at a time.

        Raises:
            AttemptError: The image could not be pulled.
            AttemptStoppedError: The attempt was stopped.
        """
        name = self._names.get(image.name)
        if name is None:
            with self._lock(image.name):
                name = (
                    self._pull_sif(image)
                    if self._engine.kind is ContainerEngine.APPTAINER
                    else self._pull_image(image)
                )
            self._names[image.name] = name
        return name

    def forget(self) -> None:
        """Forget which images the node has."""
        self._names.clear()

    def _pull_image(self, image: ContainerImage) -> str:
        inspect = (
            ("inspect",) if self._engine.kind is ContainerEngine.UDOCKER else ("image", "inspect")
        )
        if call_engine(self._engine, *inspect, image.name).returncode == 0:
            return image.name
        if image.pull is None:
            sentence = (
                f"the image {quoted(image.name)} is not on this node, and the tool names no source"
                " for it (dockerPull)"
            )
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        self._run_pull(image, "pull", image.pull)
        if (
            image.name != image.pull
            and call_engine(self._engine, *inspect, image.name).returncode != 0
        ):
            sentence = (
                f"the image {quoted(image.pull)} was pulled, but there is still no image called"
                f" {quoted(image.name)} (dockerImageId)"
            )
            raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        return image.name

    def _pull_sif(self, image: ContainerImage) -> str:
        path = self._folder / f"{_digest(image.name)}.sif"
        if not path.exists():
            if image.pull is None:
                sentence = (
                    f"the image {quoted(image.name)} is not available: the tool names no source for"
                    " it (dockerPull)"
                )
                raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
            new = path.with_suffix(".new")
            self._run_pull(image, "pull", "--force", str(new), f"docker://{image.pull}")
            new.rename(path)
        return str(path)

    def _run_pull(self, image: ContainerImage, *command: str) -> None:
        """Run a pull of the engine, and end it when the attempt is stopped."""
        log_path = self._folder / f"{_digest(image.name)}.{os.getpid()}.log"
        try:
            with log_path.open("w+b") as stream:
                program = Program(
                    arguments=[self._engine.program, *command],
                    environment=engine_environment(),
                    folder=str(self._folder),
                    disk_folder=str(self._folder),
                    stdin=subprocess.DEVNULL,
                    stdout=stream.fileno(),
                    stderr=stream.fileno(),
                )
                end = run_program(
                    program,
                    ProgramLimits(time=0, memory=0, disk=0, grace=1.0),
                    self._control,
                    start=start_as_child(self._list_others),
                )
                reason = last_line(stream.fileno()) or f"exit status {end.exit_code}"
            if end.kill_reason is KillReason.STOPPED:
                raise AttemptStoppedError
            if end.exit_code != 0:
                sentence = (
                    f"the image {quoted(image.pull)} could not be pulled with"
                    f" {self._engine.kind.label}: {reason}"
                )
                raise AttemptError(ErrorClass.STAGE_IN_FAILED, sentence)
        finally:
            log_path.unlink(missing_ok=True)

    @contextmanager
    def _lock(self, image: str) -> Iterator[None]:
        """Hold the lock on an image.

        The wait for another process ends when the attempt is stopped.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(
            self._folder / f"{_digest(image)}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            while not _try_lock(lock):
                if self._control.is_stopping():
                    raise AttemptStoppedError
                time.sleep(0.1)
            yield
        finally:
            os.close(lock)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _digest(image: str) -> str:
    return hashlib.sha256(image.encode()).hexdigest()[:32]
