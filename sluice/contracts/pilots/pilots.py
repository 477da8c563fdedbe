"""The REST protocol between pilots and the WMS. The pilot sends all requests."""

from collections import Counter
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from sluice.contracts.common.base import (
    Contract,
    Name,
    StorageUrl,
    Timestamp,
)
from sluice.contracts.common.bounds import MAX_GPUS, MAX_WORD, NewWord
from sluice.contracts.common.states import (
    AttemptOutcome,
    AttemptPhase,
    ContainerEngine,
    ErrorClass,
    ReportAnswer,
    SandboxKind,
    TaskMode,
)
from sluice.contracts.common.wording import StringRule, in_words
from sluice.contracts.data.storage_space import FullStorage
from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.jobs.job_inputs import InputFile, JobInput
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.jobs.resources import (
    Amounts,
    Labels,
    NamedAmounts,
    SpentAmounts,
)
from sluice.contracts.jobs.tasks import TaskOutput
from sluice.contracts.jobs.warm_workers import LoadedKinds, LoadedTools
from sluice.contracts.pilots.node_parts import PartName, part_in_words
from sluice.contracts.pilots.output_files import LogFile, MeasuredAmount, OutputFile, ReportedTime

#: Maximum of the cores of a node, and of its MiB of memory or disk.
MAX_NODE_SHARE = 2**40


class NodeResources(Contract):
    """The resources of a node.

    Attributes:
        ram: Memory in MiB.
        disk: Disk space in MiB.
        gpus: The names of the GPUs.
        devices: The details of the GPUs.
        named: Resources that the node's operator has declared.
        labels: Labels that the node's operator has declared.
        part: The part of the node that the pilot has, such as ``1/2``, if other pilots share the
            node.
    """

    cores: Annotated[float, Field(gt=0)]
    ram: int
    disk: int
    gpus: list[str] = Field(default_factory=list)
    devices: list[Gpu] = Field(default_factory=list)
    named: NamedAmounts = Field(default_factory=dict)
    labels: Labels = Field(default_factory=dict)
    part: PartName | None = None

    @property
    def known_gpus(self) -> list[Gpu]:
        """Return the GPUs; those without details by number and name."""
        return self.devices or [
            Gpu(uuid=str(number), name=name) for number, name in enumerate(self.gpus)
        ]

    @property
    def part_in_words(self) -> str:
        """Return the part, such as ``part 1 of 2 of its node``; empty for a whole node."""
        return part_in_words(self.part) if self.part else ""

    @property
    def gpus_in_words(self) -> str:
        """Return the GPUs, such as ``2 × NVIDIA A2``; empty if there are none."""
        return ", ".join(f"{number} × {name}" for name, number in Counter(self.gpus).items())


class WithIsolation(Contract):
    """The isolation that a node has for jobs.

    Attributes:
        engines: Container engines that work on the node. The first one is used.
    """

    engines: list[ContainerEngine] = Field(default_factory=list)
    sandbox: SandboxKind = SandboxKind.NONE


def _few(node: NodeResources) -> NodeResources:
    count = max(len(node.gpus), len(node.devices))
    if count > MAX_GPUS or any(len(gpu) > MAX_WORD for gpu in node.gpus):
        raise in_words(
            f"a node names at most {MAX_GPUS} GPUs, each with {MAX_WORD} characters at most"
        )
    if len({gpu.uuid for gpu in node.devices}) < len(node.devices):
        raise in_words("a node lists each of its GPUs once")
    amounts = {"cores": node.cores, "ram": node.ram, "disk": node.disk}
    for name, amount in amounts.items():
        if not 0 <= amount <= MAX_NODE_SHARE:
            raise in_words(f"{name}: {amount} is not from 0 to {MAX_NODE_SHARE}")
    return node


#: The name of a node. The WMS adds the site of a pilot behind a blank.
HostName = Annotated[
    str,
    StringConstraints(pattern=r"^\S+$", max_length=MAX_WORD),
    StringRule(
        "the name of a node",
        first=r"\S",
        other=r"\S",
        max_length=MAX_WORD,
        rule=f"has no blanks, and at most {MAX_WORD} characters",
    ),
]


class RegisterPilot(WithIsolation):
    """A request to register a pilot.

    Attributes:
        uid: The uid, which the pilot chooses. A repeated registration is the same pilot.
    """

    uid: UUID
    name: Name
    host: HostName
    slots: Annotated[int, Field(ge=1, le=4096)]
    resources: Annotated[NodeResources, AfterValidator(_few)]
    version: NewWord


class Registration(Contract):
    """The answer to a registration.

    Attributes:
        heartbeat: Seconds between two heartbeats of the pilot.
        lease: Seconds that a lease lasts. The pilot stops a job before its lease ends, unless the
            lease is renewed.
    """

    heartbeat: float
    lease: float


class StorageUrls(Contract):
    """The storages that jobs write to. Pilots remove files of attempts only there."""

    urls: list[StorageUrl]


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


class StartedJob(JobToken):
    """An attempt that has started.

    Attributes:
        bytes: The size of the outputs. Present while they are stored.
    """

    started_at: Timestamp
    phase: AttemptPhase | None = None
    bytes: Annotated[int | None, Field(ge=0)] = None


#: Why a pilot takes no jobs, as the end of a sentence.
Trouble = Annotated[str, Field(max_length=400)]


class Heartbeat(Contract):
    """A heartbeat, which renews the leases of the named jobs.

    Attributes:
        waiting: Jobs that have not started.
        confirmed: Jobs whose commands were carried out since the last heartbeat.
        trouble: Why the pilot takes no jobs now. Empty if it takes jobs.
    """

    running: list[StartedJob] = Field(default_factory=list)
    waiting: list[JobToken] = Field(default_factory=list)
    confirmed: list[JobToken] = Field(default_factory=list)
    loaded: LoadedTools = Field(default_factory=list)
    trouble: Trouble = ""


class Command(Contract):
    """A command to a pilot.

    Attributes:
        kind: ``cancel`` stops the attempt, and the pilot reports it as canceled. ``abandon`` stops
            the attempt without a report, because the job no longer belongs to the pilot.
    """

    kind: Literal["cancel", "abandon"]
    job: JobToken


class HeartbeatAnswer(Contract):
    """The answer to a heartbeat.

    Attributes:
        lease: The duration of the renewed leases in seconds.
        drain: The pilot must finish its jobs, take no others, and sign off.
    """

    lease: float
    commands: list[Command] = Field(default_factory=list)
    drain: bool = False


class AttemptReport(Contract):
    """A report on an attempt that has ended.

    Attributes:
        message: A sentence for people.
        gpu_memory: MiB of the GPU, or part of a GPU, that was full. 0 if it is not known. None if
            no GPU was full.
        checkpoint: The job may have checkpoints. The answer must say whether the job has ended.
        no_space: The full storage, if the attempt failed with ``no_space``.
        spent: Used amounts of the job's resources, if the tool reports them. A quota gets the rest
            back.
    """

    id: int
    attempt: int
    outcome: AttemptOutcome
    started_at: ReportedTime | None = None
    ended_at: ReportedTime
    exit_code: int | None = None
    error_class: ErrorClass | None = None
    message: Annotated[str, Field(max_length=4000)] = ""
    outputs: list[OutputFile] = Field(default_factory=list)
    log: LogFile | None = None
    peak_memory: MeasuredAmount | None = None
    cpu_seconds: MeasuredAmount | None = None
    gpu_memory: Annotated[int | None, Field(ge=0, le=2**31 - 1)] = None
    checkpoint: bool = False
    no_space: FullStorage | None = None
    spent: SpentAmounts = Field(default_factory=dict)


class Report(Contract):
    """A report on attempts that have ended."""

    reports: Annotated[list[AttemptReport], Field(min_length=1, max_length=1024)]


class AnsweredReport(JobToken):
    """The answer to the report on one attempt.

    Attributes:
        ended: The job has ended, with this attempt or another. Present if the report has
            ``checkpoint``.
    """

    answer: ReportAnswer
    ended: bool = False


class ReportAnswers(Contract):
    """The answers to a report, one for each attempt."""

    answers: list[AnsweredReport]


class SignOff(Contract):
    """A message that the pilot ends.

    Attributes:
        returned: Jobs that were not started. They are ready again at once.
    """

    returned: list[JobToken] = Field(default_factory=list)
