"""What pilots and the WMS say to each other (REST, asked by the pilot)."""

import operator
from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, Field

from sluice.contracts.base import (
    Checksum,
    Contract,
    FileName,
    Name,
    StorageUrl,
    Timestamp,
    absent,
)
from sluice.contracts.bounds import MOST_GPUS, MOST_WORD, NewUrl, NewWord
from sluice.contracts.counts import Counts
from sluice.contracts.gpus import Gpu
from sluice.contracts.job_inputs import InputFile, JobInput
from sluice.contracts.needs import Needs
from sluice.contracts.node_parts import PartName, part_in_words
from sluice.contracts.resources import (
    Amounts,
    Labels,
    NamedAmounts,
    SpentAmounts,
)
from sluice.contracts.room import FullStorage
from sluice.contracts.states import (
    AttemptOutcome,
    AttemptPhase,
    ContainerEngine,
    ErrorClass,
    ReportAnswer,
    SandboxKind,
    TaskMode,
)
from sluice.contracts.tasks import TaskOutput
from sluice.contracts.warm_workers import LoadedKinds, LoadedTools
from sluice.contracts.wire import FlatContract, FlattenedField
from sluice.contracts.wording import in_words

#: Cores, and MiB, of a node.
MOST_OF_NODE = 2**40


class NodeResources(Contract):
    """``ram`` and ``disk`` in MiB. ``gpus``: names; ``devices``: each of them, left out where there
    is none, as the release before does not know it; nor ``named`` resources and ``labels``, of
    which its operator tells. ``part``: of its node, which others share, as in ``1/2``."""

    cores: Annotated[float, Field(gt=0)]
    ram: int
    disk: int
    gpus: list[str] = Field(default_factory=list)
    devices: Annotated[list[Gpu], Field(exclude_if=operator.not_)] = Field(default_factory=list)
    named: NamedAmounts = Field(default_factory=dict)
    labels: Labels = Field(default_factory=dict)
    part: Annotated[PartName | None, Field(exclude_if=absent)] = None

    @property
    def known_gpus(self) -> list[Gpu]:
        """Of a pilot of the release before, nothing but their number and names."""
        return self.devices or [
            Gpu(uuid=str(number), name=name) for number, name in enumerate(self.gpus)
        ]

    @property
    def part_in_words(self) -> str:
        """``part 1 of 2 of its node``; empty where all is its own."""
        return part_in_words(self.part) if self.part else ""

    @property
    def gpus_in_words(self) -> str:
        """``2 × NVIDIA A2``; empty where there is none."""
        return ", ".join(f"{number} × {name}" for name, number in Counter(self.gpus).items())


class WithIsolation(Contract):
    """What the node has to keep jobs in. Each is left out where there is none: the release before
    knows neither."""

    #: Container engines that work on the node, the one used first.
    engines: Annotated[list[ContainerEngine], Field(exclude_if=operator.not_)] = Field(
        default_factory=list
    )
    sandbox: Annotated[
        SandboxKind, Field(exclude_if=lambda sandbox: sandbox is SandboxKind.NONE)
    ] = SandboxKind.NONE


def _few(node: NodeResources) -> NodeResources:
    most = max(len(node.gpus), len(node.devices))
    if most > MOST_GPUS or any(len(gpu) > MOST_WORD for gpu in node.gpus):
        raise in_words(
            f"a node names at most {MOST_GPUS} GPUs, each with {MOST_WORD} characters at most"
        )
    if len({gpu.uuid for gpu in node.devices}) < len(node.devices):
        raise in_words("a node has each of its GPUs once")
    amounts = {"cores": node.cores, "ram": node.ram, "disk": node.disk}
    for name, amount in amounts.items():
        if not 0 <= amount <= MOST_OF_NODE:
            raise in_words(f"{name}: {amount} is not from 0 to {MOST_OF_NODE}")
    return node


class RegisterPilot(WithIsolation):
    """``uid`` is chosen by the pilot, so that a repeated registration is the same pilot."""

    uid: UUID
    name: Name
    host: NewWord
    slots: Annotated[int, Field(ge=1, le=4096)]
    resources: Annotated[NodeResources, AfterValidator(_few)]
    version: NewWord


class Registration(Contract):
    """Seconds. A pilot sends a heartbeat every ``heartbeat`` and stops a job before its ``lease``
    has run out unrenewed."""

    heartbeat: float
    lease: float


class StorageUrls(Contract):
    """Storages that jobs write to: nothing of attempts is removed anywhere else."""

    urls: list[StorageUrl]


class Room(Contract):
    """What a pilot has left of its node. ``free``: now. ``soon``: when the jobs have ended that do
    not take long. ``ahead``: how many of the jobs that it asks for are to come after those that it
    has."""

    free: Amounts
    soon: Amounts
    ahead: Annotated[int, Field(ge=0)] = 0


class LeaseRequest(Contract):
    """``jobs``: as many as it can take now. ``wait``: seconds the WMS may hold the answer back
    until there is work. ``known_tasks``: tasks whose description it has. ``room``: what the jobs
    have to fit in; pilots of the release before do not say, and are not told what they would not
    understand."""

    jobs: Annotated[int, Field(ge=1, le=1024)]
    wait: Annotated[float, Field(ge=0, le=60)] = 0.0
    known_tasks: list[UUID] = Field(default_factory=list)
    room: Annotated[Room | None, Field(exclude_if=absent)] = None
    loaded: LoadedKinds = Field(default_factory=list)


class LeasedJob(Contract):
    """(``id``, ``attempt``) is the fencing token: a report with another attempt number changes
    nothing. ``ram``, ``gpu_memory``: MiB, where that is not what its task says."""

    id: int
    attempt: int
    task_uid: UUID
    seq: int
    inputs: list[Annotated[JobInput, Field(union_mode="left_to_right")]]
    ram: Annotated[int | None, Field(exclude_if=absent)] = None
    gpu_memory: Annotated[int | None, Field(exclude_if=absent)] = None


class BundlePort(Contract):
    """A port whose entries are bundles. ``whole``: it takes the list of all values, else a single
    value."""

    port: str
    whole: bool = False


class PilotTask(FlatContract):
    """What a pilot has to know of a task, sent once."""

    uid: UUID
    chain_uid: UUID
    step: str
    executable: dict[str, Any]
    args: dict[str, Any]
    mode: TaskMode
    depth: int = 0
    #: Empty where its jobs are made of values alone.
    dat_in_port: str
    #: Further ports that take files.
    side_ports: list[str] = Field(default_factory=list)
    #: Files that every job gets beside its own, in order, each with its port.
    shared_inputs: list[InputFile] = Field(default_factory=list)
    #: Ports whose entries are no plain files.
    bundles: list[BundlePort] = Field(default_factory=list)
    #: Most entries of one job; with more than 1, the tool runs once for the inputs of each number,
    #: and outputs carry it.
    batch: Annotated[int, Field(ge=1)] = 1
    outputs: list[TaskOutput]
    log_out_uid: UUID
    log_out_url: StorageUrl
    needs: Annotated[Needs, FlattenedField()] = Needs()


class Lease(Contract):
    """``seconds``: for how long the jobs are the pilot's from the moment it sent the request,
    unless a heartbeat renews them."""

    seconds: float
    jobs: list[LeasedJob]
    tasks: list[PilotTask]
    #: True: take nothing more, finish, sign off.
    drain: bool = False


class JobToken(Contract):
    id: int
    attempt: int


class StartedJob(JobToken):
    """``bytes``: of the outputs, in the phase in which they are stored."""

    started_at: Timestamp
    phase: Annotated[AttemptPhase | None, Field(exclude_if=absent)] = None
    bytes: Annotated[int | None, Field(ge=0, exclude_if=absent)] = None


#: Of a pilot, the end of a sentence.
Trouble = Annotated[str, Field(max_length=400, exclude_if=operator.not_)]


class Heartbeat(Contract):
    """Renews all leases of the pilot on the jobs named. ``confirmed``: commands carried out since
    the last one."""

    running: list[StartedJob] = Field(default_factory=list)
    waiting: list[JobToken] = Field(default_factory=list)
    confirmed: list[JobToken] = Field(default_factory=list)
    loaded: LoadedTools = Field(default_factory=list)
    #: Why the pilot takes no jobs now; empty: it takes some.
    trouble: Trouble = ""


class Command(Contract):
    """``cancel``: stop that attempt, report it canceled. ``abandon``: it is no longer this pilot's;
    stop it, report nothing."""

    kind: Literal["cancel", "abandon"]
    job: JobToken


class HeartbeatAnswer(Contract):
    lease: float
    commands: list[Command] = Field(default_factory=list)
    drain: bool = False


#: Of a file that a job wrote, in bytes (9 PB): sums of many fit into a column of the catalogue.
MOST_SIZE = 2**53
Size = Annotated[int, Field(ge=0, le=MOST_SIZE)]
#: When an attempt began or ended, by its node's clock, which may be wrong.
ReportedTime = Annotated[
    datetime,
    AwareDatetime,
    Field(ge=datetime(1970, 1, 1, tzinfo=UTC), le=datetime(2100, 1, 1, tzinfo=UTC)),
]
#: MiB, or seconds.
MeasuredAmount = Annotated[float, Field(ge=0, le=2**53, allow_inf_nan=False)]


class OutputFile(Contract):
    """A file that is safely on its storage, under its final name. ``number``: of its entry; None:
    that of the job. ``counts``: what the tool says that it counted in it."""

    port: str
    name: FileName
    size: Size
    checksum: Checksum
    url: NewUrl
    # A WMS of the release before refuses what it does not know.
    number: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = Field(
        default=None, exclude_if=lambda number: number is None
    )
    counts: Annotated[Counts | None, Field(exclude_if=absent)] = None


class LogFile(Contract):
    name: FileName
    size: Size
    checksum: Checksum
    url: NewUrl


class AttemptReport(Contract):
    id: int
    attempt: int
    outcome: AttemptOutcome
    started_at: ReportedTime | None = None
    ended_at: ReportedTime
    exit_code: int | None = None
    error_class: ErrorClass | None = None
    #: A sentence that a person understands.
    message: Annotated[str, Field(max_length=4000)] = ""
    outputs: list[OutputFile] = Field(default_factory=list)
    log: LogFile | None = None
    peak_memory: MeasuredAmount | None = None
    cpu_seconds: MeasuredAmount | None = None
    #: MiB of the GPU, or of the part of one, that was full; 0: not known. None: none was.
    gpu_memory: Annotated[int | None, Field(ge=0, le=2**31 - 1, exclude_if=absent)] = None
    #: There may be checkpoints of the job: the answer is to say whether it has ended.
    checkpoint: Annotated[bool, Field(exclude_if=operator.not_)] = False
    #: Of an attempt that failed with ``no_room`` since a storage was full.
    no_room: Annotated[FullStorage | None, Field(exclude_if=absent)] = None
    #: Of what the job reserved, as far as its tool says it; the rest of a quota is given back.
    spent: SpentAmounts = Field(default_factory=dict)


class Report(Contract):
    reports: Annotated[list[AttemptReport], Field(min_length=1, max_length=1024)]


class AnsweredReport(JobToken):
    """``ended``: the job has, with this attempt or another; said to who has asked for it."""

    answer: ReportAnswer
    ended: Annotated[bool, Field(exclude_if=operator.not_)] = False


class ReportAnswers(Contract):
    answers: list[AnsweredReport]


class SignOff(Contract):
    """The pilot ends; jobs it names go back at once, unstarted."""

    returned: list[JobToken] = Field(default_factory=list)
