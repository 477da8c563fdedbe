"""What a step's jobs need, and how they are to be run: said by the template, and carried as it is
from the plan to the task and to the pilot.

A property that is added here is left out where it says nothing (``exclude_if=absent``), so that the
release before reads what does not use it.
"""

import operator
from typing import Annotated

from pydantic import Field

from sluice.contracts.ask import Ask
from sluice.contracts.asset_refs import AssetName
from sluice.contracts.base import Contract, ImageName, absent
from sluice.contracts.checkpoints import Checkpoint
from sluice.contracts.gpus import GpuNeeds
from sluice.contracts.resources import NamedAmounts, WantedLabels
from sluice.contracts.secrets import SecretRef
from sluice.contracts.states import DeviceType

#: MiB that a job is counted with which asked for none (CWL's default).
COUNTED_RAM = 256
#: MiB that a job may write which asked for none.
UNASKED_DISK = 1024

#: Of a tool that stays loaded: seconds that it may be idle, and jobs, that can be asked for.
MOST_IDLE, MOST_REQUESTS = 86_400, 1_000_000


class Resources(Contract):
    """What one job needs. ``ram``, ``disk`` in MiB, ``time_limit`` in seconds (0: none). ``ram`` 0:
    nobody asked for any, and the job is stopped only where it takes what the node has; the release
    before counts it as 256, and stops it as if it had asked for that. ``disk``: as much as nobody
    asked for is none that a node must have."""

    cores: Annotated[float, Field(gt=0)] = 1.0
    ram: Annotated[int, Field(ge=0)] = 0
    disk: Annotated[int, Field(ge=0)] = UNASKED_DISK
    time_limit: Annotated[float, Field(ge=0)] = 3600.0

    @property
    def counted_ram(self) -> int:
        """MiB that a node must have left for the job."""
        return self.ram or COUNTED_RAM

    @property
    def counted_disk(self) -> int:
        """MiB, likewise."""
        return 0 if self.disk == UNASKED_DISK else self.disk


class ContainerImage(Contract):
    """``name``: what the engine runs (CWL's dockerImageId). ``pull``: where it comes from
    (dockerPull); None: nodes have it."""

    name: ImageName
    pull: ImageName | None = None


class Container(Contract):
    """What a step's jobs run in. ``images``: of all tools in it. ``required``: otherwise they run
    without where there is no engine."""

    images: Annotated[list[ContainerImage], Field(min_length=1)]
    required: bool = True


class Warm(Contract):
    """The tool stays loaded from one job to the next. ``key``: its inputs whose values decide what
    it loads: a job with others needs a process of its own. ``idle``: seconds without a job until it
    goes; ``jobs``: after so many it is started anew. ``kind``: what is loaded, as far as the task
    says it: the tool and what it is given at ``key``; once there is a task."""

    key: list[str] = Field(default_factory=list)
    idle: Annotated[float, Field(ge=0, le=MOST_IDLE)] = 300.0
    jobs: Annotated[int, Field(ge=1, le=MOST_REQUESTS)] = 1000
    kind: Annotated[str | None, Field(exclude_if=absent)] = None


class Needs(Contract):
    """``container``: None where the tool runs on the node as it is. ``sandbox``: only a node with a
    sandbox can run a job, as is asked for or has secrets; False where every tool has to run in a
    container, whose engine keeps it as well. ``secrets``: by the tool's port; which version is open
    in a template's plan, and fixed when a chain is made. ``device_type``: a GPU, for who asks no
    further; ``gpu``: which, and how much of it. ``named``: resources that nodes offer by these
    names, or of which there is a limit over all nodes. ``nodes``: labels that a node must have.
    ``warm``: the tool stays loaded between jobs; None: it is started anew for each. ``folders``:
    ports of the tool that get all of their files as one folder, and what that is called. ``items``:
    ports of the tool that get one item of the list among the task's arguments, which the step
    scatters over. ``ask``: people do it, and no pilot. ``checkpoint``: what is kept of a job for
    its next attempt; None: nothing."""

    resources: Resources = Resources()
    device_type: DeviceType = DeviceType.CPU
    gpu: Annotated[GpuNeeds | None, Field(exclude_if=absent)] = None
    named: NamedAmounts = Field(default_factory=dict)
    nodes: WantedLabels = Field(default_factory=dict)
    container: Container | None = None
    sandbox: Annotated[bool, Field(exclude_if=operator.not_)] = False
    secrets: Annotated[dict[str, SecretRef], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict
    )
    warm: Annotated[Warm | None, Field(exclude_if=absent)] = None
    folders: Annotated[dict[str, AssetName], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict
    )
    items: Annotated[list[str], Field(exclude_if=operator.not_)] = Field(default_factory=list)
    ask: Annotated[Ask | None, Field(exclude_if=absent)] = None
    checkpoint: Annotated[Checkpoint | None, Field(exclude_if=absent)] = None

    @property
    def gpus(self) -> GpuNeeds | None:
        """None: it needs none."""
        if self.gpu is not None:
            return self.gpu
        return GpuNeeds() if self.device_type is DeviceType.GPU else None

    @property
    def beyond_the_release_before(self) -> bool:
        """A pilot of the release before would run a job without them, or not understand it."""
        return bool(self.secrets or self.named or self.nodes or self.folders or self.items)

    @property
    def needs_engine(self) -> bool:
        """Only a node that runs containers can run a job."""
        return self.container is not None and self.container.required
