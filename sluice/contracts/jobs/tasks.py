"""Messages, requests and answers of the WMS about tasks and jobs, except those of pilots."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sluice.contracts.access.owners import EVERYONE, Owner, OwnerGroup
from sluice.contracts.common.base import Contract, FileName, StorageUrl, Timestamp
from sluice.contracts.common.bounds import NewText
from sluice.contracts.common.states import (
    AttemptOutcome,
    EntryKind,
    ErrorClass,
    InputMode,
    JobState,
    Pick,
    TaskMode,
    TaskState,
)
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.plan import Boundary, MergeGroups, RetryOverride


class TaskOutput(Contract):
    """The data set, storage and folder for the files of one output port.

    Attributes:
        spread: The only job of the step writes a list, and each item is one entry.
    """

    port: str
    dat_out_uid: UUID
    dat_stor_url: StorageUrl
    dat_out_url: StorageUrl
    optional: bool = False
    kind: EntryKind = EntryKind.FILE
    spread: bool = False


class NextInput(Contract):
    """A data set whose files follow those of another.

    Attributes:
        start: The number that is added to the numbers of its files.
    """

    dat_in_uid: UUID
    start: int = 0


class TaskInput(Contract):
    """A data set that the task reads, and the port of the tool that gets it.

    Attributes:
        next_inputs: Data sets whose files follow those of this data set.
        pick: Which one file of all these data sets is taken.
    """

    port: str
    dat_in_uid: UUID
    next_inputs: list[NextInput] = Field(default_factory=list)
    pick: Pick | None = None
    mode: InputMode
    optional: bool = False
    kind: EntryKind = EntryKind.FILE


class ReusedTask(Contract):
    """An earlier task with the same work, and its output data sets by port.

    If a job of it with the same inputs finished, its outputs are used and the job does not run
    again.
    """

    task: UUID
    outputs: dict[str, UUID]


class Task(Contract):
    """A task, as the message in queue ``wms.tasks``.

    Attributes:
        executable: The tool: a CWL CommandLineTool as JSON.
        args: The part of the job order that is the same for all jobs.
        inputs: The first one is the main input: jobs are made of its files, or of the lists in
            ``args`` that ``needs.items`` names.
        single: There is exactly one job, also if the main input has no file.
        depth: The number of steps on the longest way to this step. Deeper steps go first.
        retry: The most attempts at each job.
        backoff: Seconds before the second attempt; doubled before each further one.
        speculate: Another pilot may start a duplicate attempt of a straggler.
        batch: The most entries of one job of a map task.
        parts_uid: If ``groups`` is a tree, the data set for the outputs of all jobs except the
            last.
        cross: Ports whose combinations are jobs. The last port varies fastest. Without such ports,
            entries with the same number belong together.
        by_place: Entries at the same position belong together, not those with the same number.
    """

    uid: UUID
    chain_uid: UUID
    step: str
    template: str
    executable: dict[str, Any]
    args: dict[str, Any]
    rank: float = 1.0
    mode: TaskMode
    inputs: Annotated[list[TaskInput], Field(min_length=1)]
    single: bool = False
    depth: Annotated[int, Field(ge=0)] = 0
    retry: Annotated[int, Field(ge=1)] = 3
    backoff: float = 1.0
    speculate: bool = True
    retry_also: list[RetryOverride] = Field(default_factory=list)
    outputs: list[TaskOutput]
    log_out_uid: UUID
    log_stor_url: StorageUrl
    log_out_url: StorageUrl
    boundary: Boundary = Boundary()
    groups: MergeGroups = MergeGroups()
    batch: Annotated[int, Field(ge=1)] = 1
    parts_uid: UUID | None = None
    cross: list[str] = Field(default_factory=list)
    by_place: bool = False
    needs: Needs = Needs()
    taken_over: ReusedTask | None = None
    owner: Owner = None
    group: OwnerGroup = EVERYONE

    @property
    def shares(self) -> bool:
        """Whether all jobs get some files in common."""
        return any(side.mode is not InputMode.EACH for side in self.side_inputs)

    @property
    def combines(self) -> bool:
        """Whether jobs are made of anything but files with the same number.

        These are values, files taken by place, or all combinations.
        """
        return bool(self.cross or self.needs.items or self.by_place)

    @property
    def main_input(self) -> TaskInput:
        """The input of whose files jobs are made."""
        return self.inputs[0]

    @property
    def side_inputs(self) -> list[TaskInput]:
        """All inputs except the main input."""
        return self.inputs[1:]

    @property
    def main_output(self) -> TaskOutput:
        """The first output, of a task that has one."""
        return self.outputs[0]


class TaskStatus(Contract):
    """The state of a task and its numbers of jobs.

    The numbers of jobs by state always add up to ``total``.

    Attributes:
        quarantined: The number of quarantined jobs.
        asked: The number of jobs that wait for annotations of people.
        killed: The number of canceled jobs that pilots had when the task ended, if the request asks
            for it. A job that exceeded its time or memory is failed, not canceled.
        failed_attempts: The number of attempts that did not succeed, also of jobs that finished
            later.
        reason: Why the task ended.
        errors: The number of failed jobs by class of error.
    """

    uid: UUID
    chain_uid: UUID
    step: str
    template: str
    state: TaskState
    mode: TaskMode
    rank: float
    total: int
    ready: int
    leased: int
    running: int
    finished: int
    failed: int
    canceled: int
    quarantined: int
    asked: Annotated[int, Field(ge=0)] = 0
    killed: Annotated[int | None, Field(ge=0)] = None
    failed_attempts: int = 0
    created_at: Timestamp
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    reason: str = ""
    errors: dict[ErrorClass, int] = Field(default_factory=dict)
    owner: Owner = None
    group: OwnerGroup = EVERYONE


class TaskStatusList(Contract):
    """A list of tasks."""

    tasks: list[TaskStatus]


#: The highest rank of a task and of a chain. A chain's rank is added to those of its tasks.
MAX_RANK = 1e6


class Prioritise(Contract):
    """A request to set the rank of a task or a chain. Jobs of a higher rank are leased first."""

    rank: Annotated[float, Field(ge=0.0, le=MAX_RANK)]


class Cancel(Contract):
    """A request to cancel a task or a chain, with the reason."""

    reason: Annotated[NewText, Field(min_length=1)] = "canceled by request"


#: The meaning of a request without a body.
BY_REQUEST = Cancel()


class Boost(Contract):
    """A task whose rank is raised, and the reason.

    Attributes:
        reason: The part of a sentence after "because".
    """

    task_uid: UUID
    reason: Annotated[str, Field(max_length=400)]


class Boosts(Contract):
    """A request to raise the ranks of tasks. The ranks of all other tasks are not raised any more.

    Attributes:
        by: The number that is added to the ranks.
    """

    by: Annotated[float, Field(gt=0, le=1e6)]
    boosts: Annotated[list[Boost], Field(max_length=10_000)]


class BoostResult(Contract):
    """The result of raising ranks.

    Attributes:
        raised: The number of tasks whose rank is raised now, or is raised for another reason.
        lowered: The number of tasks whose rank is no longer raised.
    """

    raised: int
    lowered: int


#: A placeholder for the pilot in attempts that people made.
PEOPLE = UUID("a5ced000-0000-4000-8000-000000000000")


class Attempt(Contract):
    """An attempt at a job; its number is the fencing token.

    Attributes:
        pilot_uid: The pilot, or a fixed UUID that stands for the people who do a human task.
        pilot_name: The name of the pilot, if the request asks for it.
        peak_memory: In MiB.
        cpu_seconds: CPU time in seconds.
    """

    attempt: int
    pilot_uid: str
    pilot_name: str | None = None
    leased_at: Timestamp
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    outcome: AttemptOutcome | None = None
    exit_code: int | None = None
    error_class: ErrorClass | None = None
    message: str = ""
    peak_memory: float | None = None
    cpu_seconds: float | None = None
    log_url: StorageUrl | None = None

    @property
    def by_people(self) -> bool:
        """Whether people did the job."""
        return self.pilot_uid == str(PEOPLE)

    @property
    def who(self) -> str:
        """The pilot, or ``people``."""
        return "people" if self.by_people else self.pilot_name or self.pilot_uid


class Job(Contract):
    """A job.

    The fields from ``pilot_name`` on describe the current or last attempt, if the request asks for
    them. Those from ``seconds`` on are set when the attempt has ended.

    Attributes:
        seq: The number of the job in its task.
        inputs: The names of its files, in order.
        attempts: All attempts, if the request is about one job.
        peak_memory: In MiB.
    """

    id: int
    task_uid: UUID
    seq: int
    state: JobState
    inputs: list[FileName]
    attempt: int
    error_class: ErrorClass | None = None
    message: str = ""
    attempts: list[Attempt] = Field(default_factory=list)
    pilot_name: str | None = None
    started_at: Timestamp | None = None
    seconds: float | None = None
    peak_memory: float | None = None
    cpu_seconds: float | None = None
    exit_code: int | None = None


class JobOrder(StrEnum):
    """The order of jobs in a list.

    ``seq`` is by number; ready jobs are in the order of leasing, and asked jobs in the order of
    creation. ``time`` and ``memory`` apply to ended jobs, the greatest value first.
    """

    SEQ = "seq"
    TIME = "time"
    MEMORY = "memory"


class JobPage(Contract):
    """A page of the jobs of a task.

    Attributes:
        after: The cursor of the next page. None means that this is the last page.
    """

    jobs: list[Job]
    after: str | None


class Schedulability(Contract):
    """Whether no node that exists or can be launched can ever run the jobs of a task.

    Attributes:
        reason: The reason, as the end of a sentence.
    """

    never: bool
    reason: str = ""


class UnschedulableTask(Contract):
    """A task with jobs that fit no node.

    Attributes:
        ready: The number of these jobs.
        reason: The reason, as the end of a sentence.
    """

    uid: UUID
    chain_uid: UUID
    step: str
    template: str
    ready: int
    reason: str


class UnschedulableList(Contract):
    """The oldest tasks with jobs that fit no node.

    Attributes:
        number: The number of all tasks with such jobs.
    """

    tasks: list[UnschedulableTask]
    number: int


class Explanation(Contract):
    """Why a task or job does not run, or why it ended, in one sentence with numbers."""

    text: str
