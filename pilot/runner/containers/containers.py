"""Use of the node's container engine by a slot."""

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from pilot.node.engines import (
    RUN_LABEL,
    SLOT_LABEL,
    Engine,
    build_removal_command,
    remove_containers,
)
from pilot.runner.containers.engine_calls import call_engine
from pilot.runner.containers.images import Images
from pilot.runner.containers.options import gpu_options
from pilot.runner.failures import AttemptError
from pilot.runner.programs.control import SlotControl

log = structlog.get_logger(__name__)

#: Start of a timestamp that stands for "never".
_NEVER = "0001-"


class Containers:
    """Use of the node's container engine by a slot.

    ``images`` is a folder for images and locks that all pilots of the node share. ``list_others``
    returns the children of the slot that belong to no job. ``isolation_options`` isolate the
    containers.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        images: Path,
        run: str,
        control: SlotControl,
        list_others: Callable[[], frozenset[int]],
        isolation_options: Sequence[str] = (),
    ) -> None:
        self.engine = engine
        self.images = Images(engine, images, control=control, list_others=list_others)
        self.list_others = list_others
        #: Memory limit in MiB of containers started from now on; 0 means no limit.
        self.memory = 0
        #: Uuids of the GPUs that the containers may use.
        self.gpus: Sequence[str] = ()
        self.slot = f"{run}.{os.getpid()}"
        self._run = run
        self._isolation_options = isolation_options
        self._numbers = itertools.count(1)

    def next_name(self) -> str:
        """Return a new name for a container."""
        return f"sluice-{self.slot}-{next(self._numbers)}"

    def options(self) -> list[str]:
        """Return the options of each ``run`` besides those of cwltool."""
        if not self.engine.runs_outside:
            return []
        memory = [f"--memory={self.memory}m"] if self.memory and self.engine.limits_memory else []
        labels = [f"--label={RUN_LABEL}={self._run}", f"--label={SLOT_LABEL}={self.slot}"]
        gpus = gpu_options(self.engine.kind, self.gpus)
        return ["--pull=never", *labels, *memory, *gpus, *self._isolation_options]

    def ran_out_of_memory(self, name: str) -> bool:
        """Return whether the container ended because of its memory limit.

        Some engines report only the end of the first process in the container.
        """
        result = call_engine(
            self.engine, "container", "inspect", "--format", "{{.State.OOMKilled}}", name
        )
        return result.stdout.strip() == "true"

    def was_started(self, name: str) -> bool:
        """Return whether the container was ever started."""
        result = call_engine(
            self.engine, "container", "inspect", "--format", "{{.State.StartedAt}}", name
        )
        return result.returncode == 0 and not result.stdout.startswith(_NEVER)

    def remove(self, name: str | None) -> None:
        """End and remove a container, or all containers of this slot if ``name`` is None.

        The container need not exist.
        """
        if not self.engine.runs_outside:
            return
        if name is None:
            remove_containers(self.engine, f"{SLOT_LABEL}={self.slot}")
            return
        try:
            call_engine(self.engine, *build_removal_command(self.engine), name)
        except AttemptError as error:
            log.error("container.not_removed", container=name, reason=error.message)
