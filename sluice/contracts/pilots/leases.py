"""Leases of jobs: the request of a pilot, and the jobs that it gets."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sluice.contracts.common.base import (
    Contract,
    StorageUrl,
)
from sluice.contracts.common.states import (
    TaskMode,
)
from sluice.contracts.jobs.job_inputs import InputFile, JobInput
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.resources import (
    Amounts,
)
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.jobs.warm_workers import LoadedKinds


class FreeCapacity(Contract):
    """The free capacity of a pilot.

    Attributes:
        free: The capacity that is free now.
        soon: The capacity that is free when all short jobs have ended.
        ahead: How many of the requested jobs the pilot will start later, after those that it has.
    """

    free: Amounts
    soon: Amounts
    ahead: Annotated[int, Field(ge=0)] = 0


class LeaseRequest(Contract):
    """A request for jobs.

    Attributes:
        jobs: The maximum number of jobs.
        wait: Seconds by which the WMS may delay the answer until there are jobs.
        known_tasks: Tasks whose description the pilot has.
        free_capacity: The jobs must fit in this capacity. Without it, the jobs must fit the node,
            and the pilot gets no duplicate attempts.
        loaded: The kinds of the pilot's warm workers.
    """

    jobs: Annotated[int, Field(ge=1, le=1024)]
    wait: Annotated[float, Field(ge=0, le=60)] = 0.0
    known_tasks: list[UUID] = Field(default_factory=list)
    free_capacity: FreeCapacity | None = None
    loaded: LoadedKinds = Field(default_factory=list)


class LeasedJob(Contract):
    """A job that is leased to a pilot.

    ``id`` and ``attempt`` are the fencing token. A report with another attempt has no effect.

    Attributes:
        ram: Memory in MiB, if it differs from that of the task.
        gpu_memory: GPU memory in MiB, if it differs from that of the task.
    """

    id: int
    attempt: int
    task_uid: UUID
    seq: int
    inputs: list[Annotated[JobInput, Field(union_mode="left_to_right")]]
    ram: int | None = None
    gpu_memory: int | None = None


class BundlePort(Contract):
    """A port whose entries are bundles.

    Attributes:
        whole: Whether the port takes the list of all values. Otherwise it takes a single value.
    """

    port: str
    whole: bool = False


class PilotTask(Contract):
    """The description of a task for a pilot, which is sent once.

    Attributes:
        dat_in_port: The port of the main input. Empty if the jobs have only values.
        side_ports: Other ports that take files.
        shared_inputs: Files that all jobs get, in order, each with its port.
        bundles: Ports whose entries are not plain files.
        batch: Maximum number of entries of one job. With more than 1, the tool runs once for each
            entry. Outputs then have the number of their entry.
    """

    uid: UUID
    chain_uid: UUID
    step: str
    executable: dict[str, Any]
    args: dict[str, Any]
    mode: TaskMode
    depth: int = 0
    dat_in_port: str
    side_ports: list[str] = Field(default_factory=list)
    shared_inputs: list[InputFile] = Field(default_factory=list)
    bundles: list[BundlePort] = Field(default_factory=list)
    batch: Annotated[int, Field(ge=1)] = 1
    outputs: list[TaskOutput]
    log_out_uid: UUID
    log_out_url: StorageUrl
    needs: Needs = Needs()


class Lease(Contract):
    """Jobs that are leased to a pilot.

    Attributes:
        seconds: The lease ends this long after the pilot sent the request, unless a heartbeat
            renews it.
        tasks: Descriptions of tasks that the pilot does not know.
        drain: The pilot must finish its jobs, take no others, and sign off.
    """

    seconds: float
    jobs: list[LeasedJob]
    tasks: list[PilotTask]
    drain: bool = False


class JobToken(Contract):
    """The fencing token of an attempt."""

    id: int
    attempt: int
