"""Requests and answers of the chain service, and of the watcher beside it."""

import operator
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from sluice.contracts.attention import Acknowledgement
from sluice.contracts.base import Contract, Name, Timestamp, absent
from sluice.contracts.bounds import NewParams, NewText
from sluice.contracts.datasets import Dataset
from sluice.contracts.owners import EVERYONE, Owner, OwnerGroup
from sluice.contracts.plan import Plan
from sluice.contracts.renamed import ContractWithOldNames
from sluice.contracts.secrets import SecretRef
from sluice.contracts.states import (
    ChainDatasetStatus,
    ChainState,
    EntryKind,
    StepState,
    TaskState,
    WatchKind,
    WatchState,
)
from sluice.contracts.tasks import MOST_RANK, TaskStatus


class FileValue(Contract):
    """The value of a parameter of type ``File``: a closed data set of one file; of one of type
    ``File[]``, one of any number; of one that is bound to an asset all files of a version, in a
    list or a folder (``Directory``).
    ``retention``: what becomes of it once the chain is over and no other chain needs it. ``asset``:
    which version it is, as in ``pero-cz@3``."""

    model_config = ConfigDict(
        serialize_by_alias=True, validate_by_name=True, validate_by_alias=True
    )

    kind: Literal["File", "Directory"] = Field(alias="class")
    dataset: UUID
    retention: Literal["delete", "keep"] = "keep"
    asset: Annotated[str | None, Field(exclude_if=absent)] = None


#: Left out where it adds nothing, as the release before does not know it.
ChainRank = Annotated[float, Field(ge=0.0, le=MOST_RANK, exclude_if=operator.not_)]


class NewChain(ContractWithOldNames):
    """A data set to be carried through a template (``POST /datasets``). One chain per data set,
    template version, group and values of parameters that are not bound to the data set's metadata:
    a repetition answers with the first. ``rank`` is added to those of its steps."""

    old_names: ClassVar = {"template": "template_name"}
    #: A chain service of the release before may answer it.
    always_old_names: ClassVar = True

    dataset: Dataset
    template_id: UUID
    template: Name
    template_version: int
    plan: Plan
    params: NewParams = Field(default_factory=dict)
    rank: ChainRank = 0.0
    owner: Owner = None
    group: OwnerGroup = EVERYONE


class RequestChain(Contract):
    """An explicit request (operator's ``POST /chains``): this data set, that template (its latest
    version), these parameters. Without parameters it asks for the chain that starts by itself, or
    would. ``run_template``: the template that came with a run, which ``template`` is the name of.
    ``rank`` is added to those of its steps, where the chain is new. Without ``dataset_uid`` it is
    of values alone, for a template that takes no data set."""

    dataset_uid: Annotated[UUID | None, Field(exclude_if=absent)] = None
    template: Name
    run_template: Annotated[UUID | None, Field(exclude_if=absent)] = None
    params: NewParams = Field(default_factory=dict)
    rank: ChainRank = 0.0


class RerunChain(Contract):
    """A chain that is over is to be run again (``POST /chains/{uid}/rerun``; ``…/rerun/plan`` only
    says what would be).

    ``from_step``: this step and all after it run again. ``failed_only``: the steps with jobs that
    did not finish and all after them, and of them only these jobs where that can be. Neither: the
    steps that did not finish; of a chain that did, all, or those that other parameters change.
    ``params``: other values than before. ``key``: a repetition of the request with the same key
    gives the first chain.
    """

    from_step: NewText | None = None
    failed_only: bool = False
    params: NewParams = Field(default_factory=dict)
    key: UUID | None = Field(default=None, exclude_if=absent)


class RerunStep(Contract):
    """What a rerun does with a step. ``jobs``: how many it runs, as far as that is known by the
    chain before; ``taken``: how many finished jobs it takes over. A step that is taken over as a
    whole runs no job. ``reason``: why it is as it is."""

    name: str
    runs: bool
    jobs: int | None = None
    taken: int = 0
    reason: str = ""


class RerunPlan(Contract):
    """``missing``: what would be needed and cannot be had any more; where there is any the rerun is
    refused."""

    chain_uid: UUID
    steps: list[RerunStep]
    params: dict[str, Any]
    missing: list[str]


class ChainDataset(ContractWithOldNames):
    """A data set of a chain. ``port`` None: the step's logs. ``step`` None: the chain's input, or,
    where ``port`` names a parameter, the file that is its value. A ``port`` that ends in
    ``~before``: an output of the step in the chain that this one is a rerun of, from which outputs
    of finished jobs are taken over."""

    old_names: ClassVar = {"state": "status"}

    uid: UUID
    name: str
    step: str | None
    port: str | None
    state: ChainDatasetStatus


class ChainCollection(Contract):
    """Of an output that is collected in the standing data set of this name. ``standing``,
    ``files``: where it was appended, and how much; ``reason``: why it was not. Neither: it is about
    to be."""

    output: str
    name: str
    standing: UUID | None = None
    files: int | None = None
    reason: str = ""


#: What finished although jobs of it failed, as its template allows.
INCOMPLETE = "incomplete"


class ChainListState(StrEnum):
    """What chains are listed by: their states, and what those that lack results are called."""

    IN_PROGRESS = ChainState.IN_PROGRESS.value
    UPLOADING = ChainState.UPLOADING.value
    FINISHED = ChainState.FINISHED.value  #: incomplete ones too
    INCOMPLETE = INCOMPLETE
    FAILED = ChainState.FAILED.value
    CANCELED = ChainState.CANCELED.value


def outcome_of(state: ChainState | StepState, *, failed_jobs: int) -> str:
    """Return the state of a chain or step in a word."""
    finished = state in {ChainState.FINISHED, StepState.FINISHED}
    return INCOMPLETE if finished and failed_jobs else state.value


#: What explains a task that the WMS does not know yet.
STARTING_TEXT = "The step starts: its task has not reached the WMS yet."


class ChainStep(Contract):
    name: str
    state: StepState
    task_uid: UUID | None = None
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    #: Why it failed or was canceled, in one sentence.
    reason: str = ""
    #: Jobs that failed. Told where it is asked for.
    failed_jobs: Annotated[int, Field(exclude_if=operator.not_)] = 0
    #: The chain whose task did it: its data sets were taken over.
    taken_from: UUID | None = Field(default=None, exclude_if=absent)
    #: The chain from whose task outputs of finished jobs are taken over.
    jobs_from: UUID | None = Field(default=None, exclude_if=absent)

    @property
    def outcome(self) -> str:
        """Return the state in a word: what lacks results is not called finished."""
        return outcome_of(self.state, failed_jobs=self.failed_jobs)


class Chain(ContractWithOldNames):
    """``reason``: why it failed, was or will be canceled, or what one that finished lacks; of one
    that uploads its output, why that does not go on (so tells the operator service of a single
    chain). ``rerun_of``: the chain that
    was asked to run again. ``acknowledged``: who has seen that it failed."""

    old_names: ClassVar = {"template": "template_name"}

    uid: UUID
    state: ChainState
    template_id: UUID
    template: Name
    template_version: int
    dataset_uid: UUID
    dataset_name: str
    params: dict[str, Any]
    #: Parameters whose values are secrets, of these versions.
    secrets: Annotated[dict[str, SecretRef], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict
    )
    created_at: Timestamp
    ended_at: Timestamp | None = None
    reason: str = ""
    rerun_of: UUID | None = Field(default=None, exclude_if=absent)
    #: Added to those of its steps.
    rank: Annotated[float, Field(exclude_if=operator.not_)] = 0.0
    acknowledged: Acknowledgement | None = Field(default=None, exclude_if=absent)
    #: Jobs that failed; in the list of finished chains that need attention, those whose inputs stay
    #: until somebody decides. Told there, and where it is asked for.
    failed_jobs: Annotated[int, Field(exclude_if=operator.not_)] = 0
    #: Somebody had its data deleted. Data that other chains need stay until these have ended.
    discarded: Annotated[bool, Field(exclude_if=operator.not_)] = False
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    steps: list[ChainStep]
    datasets: list[ChainDataset]
    collected: Annotated[list[ChainCollection], Field(exclude_if=operator.not_)] = Field(
        default_factory=list
    )

    @property
    def outcome(self) -> str:
        """Return the state in a word: what lacks results is not called finished."""
        return outcome_of(self.state, failed_jobs=self.failed_jobs)


class ChainOutput(Contract):
    """An output of a chain's workflow, and the data set that holds it. ``kind``, ``single``: see
    ``PlanOutput``."""

    name: str
    kind: EntryKind = EntryKind.FILE
    single: bool = False
    dataset: Dataset


class ChainOutputs(Contract):
    """In the workflow's order; an output appears when its data set is made."""

    chain: Chain
    outputs: list[ChainOutput]


class ChainPage(ContractWithOldNames):
    """Newest first; ``after`` is None on the last page."""

    old_names: ClassVar = {"after": "next"}

    chains: list[Chain]
    after: str | None


class TaskEnded(Contract):
    """``POST /tasks/finished`` from the watcher: the task (or upload) ``uid`` has ended, over the
    input data set ``uid_prev``."""

    kind: WatchKind = WatchKind.TASK
    uid: UUID
    uid_prev: UUID
    state: TaskState
    failed_jobs: int = 0
    reason: str = ""


class Release(Contract):
    """Answer: data sets that nothing needs any more, for the watcher to have deleted."""

    datasets: list[UUID]


class Watch(Contract):
    """``POST /tasks`` to the watcher: follow this task (or upload) and tell the chain service when
    it has ended."""

    kind: WatchKind
    uid: UUID
    chain_uid: UUID
    step: str | None = None
    dat_in_uid: UUID
    dat_out_uid: UUID
    log_out_uid: UUID | None = None


class Watched(Watch):
    state: WatchState
    reported: bool


class WatchList(Contract):
    tasks: list[Watched]


class ChainTask(ContractWithOldNames):
    """A row of the operator's list of tasks."""

    old_names: ClassVar = {"task_uid": "task_id", "template": "template_name", "state": "status"}

    task_uid: UUID
    chain_uid: UUID
    step: str
    template: str
    dataset_name: str
    state: StepState
    #: Counts from the WMS; None where it does not answer or does not know the task yet.
    jobs: TaskStatus | None = None


class ChainTaskList(Contract):
    """``after``: where the next page begins, where pages were asked for; None on the last."""

    tasks: list[ChainTask]
    after: str | None = Field(default=None, exclude_if=absent)
