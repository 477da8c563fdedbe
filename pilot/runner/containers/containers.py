"""A slot's use of the node's engine of containers."""

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from pilot.node.engines import RUN_LABEL, SLOT_LABEL, Engine, removal, remove_containers
from pilot.runner.containers.engine_calls import call_engine
from pilot.runner.containers.images import Images
from pilot.runner.containers.options import gpu_options
from pilot.runner.failures import AttemptError
from pilot.runner.programs.control import SlotControl

log = structlog.get_logger(__name__)

#: The year of a time that is none.
_NEVER = "0001-"


class Containers:
    """A slot's use of the node's engine. ``images``: folder for images and locks, that all pilots
    of the node share. ``spared``: children of the slot that belong to no job. ``walls``: options
    that keep what runs in them from the rest of the node."""

    def __init__(
        self,
        engine: Engine,
        *,
        images: Path,
        run: str,
        control: SlotControl,
        spared: Callable[[], frozenset[int]],
        walls: Sequence[str] = (),
    ) -> None:
        self.engine = engine
        self.images = Images(engine, images, control=control, spared=spared)
        self.spared = spared
        #: MiB that each of the containers started next may use; 0: as much as there is.
        self.memory = 0
        #: By uuid, that they may use.
        self.gpus: Sequence[str] = ()
        self.slot = f"{run}.{os.getpid()}"
        self._run = run
        self._walls = walls
        self._numbers = itertools.count(1)

    def next_name(self) -> str:
        return f"sluice-{self.slot}-{next(self._numbers)}"

    def options(self) -> list[str]:
        """Of each ``run``, beyond those that cwltool gives."""
        if not self.engine.apart:
            return []
        memory = [f"--memory={self.memory}m"] if self.memory and self.engine.limits_memory else []
        labels = [f"--label={RUN_LABEL}={self._run}", f"--label={SLOT_LABEL}={self.slot}"]
        gpus = gpu_options(self.engine.kind, self.gpus)
        return ["--pull=never", *labels, *memory, *gpus, *self._walls]

    def ran_out_of_memory(self, name: str) -> bool:
        """Did the container end because of its limit? Some engines say so of its first process
        alone."""
        done = call_engine(
            self.engine, "container", "inspect", "--format", "{{.State.OOMKilled}}", name
        )
        return done.stdout.strip() == "true"

    def was_started(self, name: str) -> bool:
        done = call_engine(
            self.engine, "container", "inspect", "--format", "{{.State.StartedAt}}", name
        )
        return done.returncode == 0 and not done.stdout.startswith(_NEVER)

    def remove(self, name: str | None) -> None:
        """Ends the container and removes it, all of this slot for None. There may be none."""
        if not self.engine.apart:
            return
        if name is None:
            remove_containers(self.engine, f"{SLOT_LABEL}={self.slot}")
            return
        try:
            call_engine(self.engine, *removal(self.engine), name)
        except AttemptError as error:
            log.error("container.not_removed", container=name, reason=error.message)
