"""Tasks and jobs: the WMS's messages, requests and answers, those of pilots left out."""

import operator
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, FileName, StorageUrl, Timestamp, absent
from sluice.contracts.bounds import NewText
from sluice.contracts.needs import Needs
from sluice.contracts.owners import EVERYONE, Owner, OwnerGroup
from sluice.contracts.plan import Boundary, Hopeless, MergeGroups, mode_on_the_wire
from sluice.contracts.renamed import ContractWithOldNames
from sluice.contracts.states import (
    AttemptOutcome,
    EntryKind,
    ErrorClass,
    InputMode,
    JobState,
    Pick,
    TaskMode,
    TaskState,
)
from sluice.contracts.wire import FlatContract, FlattenedField


class TaskOutput(Contract):
    """Where the files of one output port go: a data set, its storage, and its folder there.
    ``spread``: see ``StepOutput``."""

    port: str
    dat_out_uid: UUID
    dat_stor_url: StorageUrl
    dat_out_url: StorageUrl
    optional: bool = False
    kind: EntryKind = EntryKind.FILE
    spread: bool = False


class NextInput(Contract):
    """A data set whose files come behind those of another; ``start`` is added to their numbers."""

    dat_in_uid: UUID
    start: int = 0


class TaskInput(Contract):
    """A data set that the task reads (with those behind it), and the tool's port for it. ``pick``:
    one file is taken of all that these hold."""

    port: str
    dat_in_uid: UUID
    next_inputs: list[NextInput] = Field(default_factory=list)
    pick: Pick | None = None
    mode: InputMode
    optional: bool = False
    kind: EntryKind = EntryKind.FILE


class ReusedTask(Contract):
    """A task that was at the same work before, and the data set of each of its outputs, by port:
    where a job of it with the same inputs finished, its outputs are this task's, and the job does
    not run again."""

    task: UUID
    outputs: dict[str, UUID]


class Task(FlatContract):
    """The message of queue ``wms.tasks``.

    ``retry``: most attempts for each of the task's jobs. ``executable``: the tool, a CWL
    CommandLineTool (JSON); ``args``: the constant part of the job order. The first of the
    ``inputs`` is the main one: jobs are made of its files, or of the lists among ``args`` that
    ``needs.items`` names. ``single``: there is exactly one job,
    with the file of the main input, or without where there is none.

    On the wire, the main input and the first output stand in ``dat_*``, ``next_inputs`` and
    ``pick``, further ones in ``side_inputs`` and ``side_outputs``.
    """

    uid: UUID
    chain_uid: UUID
    step: str
    template: str
    executable: dict[str, Any]
    args: dict[str, Any]
    rank: float = 1.0
    mode: TaskMode
    inputs: Annotated[
        list[TaskInput],
        Field(min_length=1),
        FlattenedField(
            called={
                "port": "dat_in_port",
                "mode": "dat_in_mode",
                "optional": "dat_in_optional",
                "kind": "dat_in_kind",
            },
            further="side_inputs",
            implied={"mode": mode_on_the_wire},
        ),
    ]
    single: bool = False
    #: How many steps of the chain lie before it, on the longest way: the deeper goes first.
    depth: Annotated[int, Field(ge=0)] = 0
    retry: Annotated[int, Field(ge=1)] = 3
    backoff: float = 1.0
    #: May another pilot begin a job, too, that takes long?
    speculate: bool = True
    retry_also: list[Hopeless] = Field(default_factory=list)
    outputs: Annotated[
        list[TaskOutput],
        Field(min_length=1),
        FlattenedField(
            called={
                "port": "dat_out_port",
                "optional": "dat_out_optional",
                "kind": "dat_out_kind",
                "spread": "dat_out_spread",
            },
            further="side_outputs",
        ),
    ]
    log_out_uid: UUID
    log_stor_url: StorageUrl
    log_out_url: StorageUrl
    boundary: Boundary = Boundary()
    groups: MergeGroups = MergeGroups()
    #: Most entries of one job of a map task.
    batch: Annotated[int, Field(ge=1)] = 1
    #: Where ``groups`` are a tree: the data set of what all jobs but the last one write.
    parts_uid: UUID | None = None
    #: See ``PlanStep``.
    cross: Annotated[list[str], Field(exclude_if=operator.not_)] = Field(default_factory=list)
    by_place: Annotated[bool, Field(exclude_if=operator.not_)] = False
    needs: Annotated[Needs, FlattenedField()] = Needs()
    taken_over: ReusedTask | None = Field(default=None, exclude_if=absent)
    owner: Owner = None
    group: OwnerGroup = EVERYONE

    @property
    def shares(self) -> bool:
        """Every job gets files that are the same for all."""
        return any(side.mode is not InputMode.EACH for side in self.side_inputs)

    @property
    def combines(self) -> bool:
        """Are its jobs made otherwise than of files of the same number: of values, by place, or of
        each with each?"""
        return bool(self.cross or self.needs.items or self.by_place)

    @property
    def main_input(self) -> TaskInput:
        return self.inputs[0]

    @property
    def side_inputs(self) -> list[TaskInput]:
        return self.inputs[1:]

    @property
    def main_output(self) -> TaskOutput:
        return self.outputs[0]


class TaskStatus(Contract):
    """Counts add up to ``total`` at every moment. ``killed``, where asked for: how many of the
    canceled jobs a pilot had when the task ended, so that what had been done of them is lost. Jobs
    stopped at a limit are none of these: they failed."""

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
    held: int
    #: Jobs that wait for the answers of people.
    asked: Annotated[int, Field(ge=0, exclude_if=operator.not_)] = 0
    killed: Annotated[int | None, Field(ge=0, exclude_if=absent)] = None
    #: Attempts that did not succeed, whether or not a later one did.
    failed_attempts: int = 0
    created_at: Timestamp
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    reason: str = ""
    #: Failed jobs by class of error.
    errors: dict[ErrorClass, int] = Field(default_factory=dict)
    owner: Owner = None
    group: OwnerGroup = EVERYONE


class TaskStatusList(Contract):
    tasks: list[TaskStatus]


#: Of a task, and of a chain, which is added to those of its tasks.
MOST_RANK = 1e6


class Prioritise(Contract):
    """A task's or a chain's new rank; higher runs earlier."""

    rank: Annotated[float, Field(ge=0.0, le=MOST_RANK)]


class Cancel(Contract):
    """A task or a chain is to be canceled, for this reason."""

    reason: Annotated[NewText, Field(min_length=1)] = "canceled by request"


#: What is asked by a request without a body.
BY_REQUEST = Cancel()


class Boost(Contract):
    """``reason``: why the task is ranked higher, as in ``because …``."""

    task_uid: UUID
    reason: Annotated[str, Field(max_length=400)]


class Boosts(Contract):
    """All tasks that are to be ranked higher ``by`` so much; those that are not named are not, from
    now on."""

    by: Annotated[float, Field(gt=0, le=1e6)]
    boosts: Annotated[list[Boost], Field(max_length=10_000)]


class Boosted(Contract):
    """How many tasks are ranked higher, or so for another reason, and how many are so no more."""

    raised: int
    lowered: int


#: In the place of a pilot's uid, in attempts: whoever answered stands in the file.
PEOPLE = UUID("a5ced000-0000-4000-8000-000000000000")


class Attempt(ContractWithOldNames):
    """``pilot_uid``: of the pilot, or ``PEOPLE``. ``pilot_name``: given where asked for."""

    old_names: ClassVar = {"pilot_uid": "pilot"}

    attempt: int
    pilot_uid: str
    pilot_name: str | None = Field(default=None, exclude_if=absent)
    leased_at: Timestamp
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    outcome: AttemptOutcome | None = None
    exit_code: int | None = None
    error_class: ErrorClass | None = None
    message: str = ""
    #: MiB and seconds.
    peak_memory: float | None = None
    cpu_seconds: float | None = None
    log_url: StorageUrl | None = None

    @property
    def by_people(self) -> bool:
        return self.pilot_uid == str(PEOPLE)

    @property
    def who(self) -> str:
        """Who made it, in words."""
        return "people" if self.by_people else self.pilot_name or self.pilot_uid


class Job(Contract):
    """``inputs``: names of its files, in order. ``attempts`` are given where one job is asked for.

    Of its present or last attempt, where asked for: ``pilot_name``, ``started_at``, and once
    that has ended ``seconds``, ``peak_memory`` (MiB), ``cpu_seconds`` and ``exit_code``.
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
    pilot_name: str | None = Field(default=None, exclude_if=absent)
    started_at: Timestamp | None = Field(default=None, exclude_if=absent)
    seconds: float | None = Field(default=None, exclude_if=absent)
    peak_memory: float | None = Field(default=None, exclude_if=absent)
    cpu_seconds: float | None = Field(default=None, exclude_if=absent)
    exit_code: int | None = Field(default=None, exclude_if=absent)


class JobOrder(StrEnum):
    """``SEQ``: by their numbers; ready ones as they are given out, asked ones as they were made.
    The others: of those that have ended, the greatest first."""

    SEQ = "seq"
    TIME = "time"
    MEMORY = "memory"


class JobPage(ContractWithOldNames):
    """Jobs of a task; ``after`` is None on the last page."""

    old_names: ClassVar = {"after": "next"}

    jobs: list[Job]
    after: str | None


class Schedulability(Contract):
    """Whether a task's jobs will ever find a node. ``never``: none that is there or can be launched
    has what they need, for the ``reason``, the end of a sentence."""

    never: bool
    reason: str = ""


class UnschedulableTask(Contract):
    """A task with ``ready`` jobs that fit no node, for the ``reason``, the end of a sentence."""

    uid: UUID
    chain_uid: UUID
    step: str
    template: str
    ready: int
    reason: str


class UnschedulableList(Contract):
    """``number``: how many there are in all."""

    tasks: list[UnschedulableTask]
    number: int


class Explanation(Contract):
    """Why a task or job does not run, or why it ended as it did: one sentence with numbers."""

    text: str
