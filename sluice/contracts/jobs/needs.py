"""What the jobs of a step need, and how pilots run them.

The template defines these needs. The plan, the task and the pilot get them unchanged.
"""

from typing import Annotated

from pydantic import Field

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.base import Contract, ImageName
from sluice.contracts.common.states import DeviceType
from sluice.contracts.data.asset_refs import AssetName
from sluice.contracts.human_tasks.ask import Ask
from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.resources import NamedAmounts, RequestedLabels

#: Memory in MiB that is counted for a job without a request (the default of CWL).
COUNTED_RAM = 256
#: Disk in MiB that a job without a request may use.
UNASKED_DISK = 1024

#: Maximum idle time of a warm worker in seconds, and its maximum number of jobs.
MAX_IDLE, MAX_REQUESTS = 86_400, 1_000_000


class Resources(Contract):
    """The resource request of one job.

    Attributes:
        ram: Memory in MiB. 0 means that there is no request. Such a job is stopped only when it
            uses nearly all memory of the node.
        disk: Disk space in MiB. The default means that there is no request: a node needs no free
            disk for the job.
        time_limit: Seconds. 0 means that there is no limit.
    """

    cores: Annotated[float, Field(gt=0)] = 1.0
    ram: Annotated[int, Field(ge=0)] = 0
    disk: Annotated[int, Field(ge=0)] = UNASKED_DISK
    time_limit: Annotated[float, Field(ge=0)] = 3600.0

    @property
    def counted_ram(self) -> int:
        """Return the MiB of memory that a node must have free for the job."""
        return self.ram or COUNTED_RAM

    @property
    def counted_disk(self) -> int:
        """Return the MiB of disk that a node must have free for the job."""
        return 0 if self.disk == UNASKED_DISK else self.disk


class ContainerImage(Contract):
    """An image of a container.

    Attributes:
        name: The image that the container engine runs (CWL: ``dockerImageId``).
        pull: Where it comes from (CWL: ``dockerPull``). None means that the nodes have the image
            already.
    """

    name: ImageName
    pull: ImageName | None = None


class Container(Contract):
    """The container in which the jobs of a step run.

    Attributes:
        images: The images of all tools of the step.
        required: If false, a node without a container engine runs the tools without a container.
    """

    images: Annotated[list[ContainerImage], Field(min_length=1)]
    required: bool = True


class Warm(Contract):
    """How a warm worker of the step stays loaded between jobs.

    Attributes:
        key: The inputs whose values the tool loads. A job with other values needs another process.
        idle: Seconds without a job after which the process ends.
        jobs: The number of jobs after which the process is restarted.
        kind: The identifier of what is loaded: the tool, the values at ``key``, and the group. Only
            tasks have it.
    """

    key: list[str] = Field(default_factory=list)
    idle: Annotated[float, Field(ge=0, le=MAX_IDLE)] = 300.0
    jobs: Annotated[int, Field(ge=1, le=MAX_REQUESTS)] = 1000
    kind: str | None = None


class Needs(Contract):
    """The needs of a step's jobs.

    Attributes:
        device_type: The value ``gpu`` requests one GPU.
        gpu: How many GPUs a job needs, of which kind, and which part of each.
        named: Amounts of resources that nodes offer by these names, or that have a global limit.
        nodes: Labels that a node must have.
        container: The container. None means that the tool runs directly on the node.
        sandbox: Only a node with a sandbox can run a job. It is false if every tool must run in a
            container, which isolates it as well.
        secrets: Secrets by port of the tool. The version is fixed when the chain is created.
        warm: How the tool stays loaded. None means that each job starts it again.
        folders: Ports that get all their files as one folder, with the name of the folder.
        items: Ports that get one item of a list in the task's arguments (scatter).
        ask: The question to annotators, who do the jobs in place of pilots.
        checkpoint: What is saved for the next attempt. None means that nothing is saved.
    """

    resources: Resources = Resources()
    device_type: DeviceType = DeviceType.CPU
    gpu: GpuNeeds | None = None
    named: NamedAmounts = Field(default_factory=dict)
    nodes: RequestedLabels = Field(default_factory=dict)
    container: Container | None = None
    sandbox: bool = False
    secrets: dict[str, SecretRef] = Field(default_factory=dict)
    warm: Warm | None = None
    folders: dict[str, AssetName] = Field(default_factory=dict)
    items: list[str] = Field(default_factory=list)
    ask: Ask | None = None
    checkpoint: Checkpoint | None = None

    @property
    def gpus(self) -> GpuNeeds | None:
        """Return the GPUs that a job needs, or None if it needs none."""
        if self.gpu is not None:
            return self.gpu
        return GpuNeeds() if self.device_type is DeviceType.GPU else None

    @property
    def needs_engine(self) -> bool:
        """Return whether only a node with a container engine can run a job."""
        return self.container is not None and self.container.required
