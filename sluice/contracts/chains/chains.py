"""Requests and answers of the chain service, and of the watcher beside it."""

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from sluice.contracts.access.owners import EVERYONE, Owner, OwnerGroup
from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.chains.attention import Acknowledgement
from sluice.contracts.common.base import Contract, Name, Timestamp
from sluice.contracts.common.bounds import NewParams, NewText
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    EntryKind,
    StepState,
    TaskState,
    WatchKind,
    WatchState,
)
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import MAX_RANK, TaskStatus
from sluice.contracts.templates.plan import Plan


class FileValue(Contract):
    """The value of a parameter whose files are in a closed data set.

    For type ``File``, the data set has one file, and for ``File[]`` any number. A parameter that is
    bound to an asset gets all files of a version, as a list or a ``Directory``.

    Attributes:
        kind: The CWL class.
        dataset: The data set.
        retention: Whether the data set is deleted when no chain needs it any more.
        asset: The version of the asset, such as ``pero-cz@3``.
        bundle: Whether the data set has bundles of files with their secondary files. It is only
            necessary if the template does not declare secondary files for the parameter.
    """

    model_config = ConfigDict(
        serialize_by_alias=True, validate_by_name=True, validate_by_alias=True
    )

    kind: Literal["File", "Directory"] = Field(alias="class")
    dataset: UUID
    retention: Literal["delete", "keep"] = "keep"
    asset: str | None = None
    bundle: bool = False


#: The number that a chain adds to the ranks of its steps.
ChainRank = Annotated[float, Field(ge=0.0, le=MAX_RANK)]


class NewChain(Contract):
    """A request to create a chain of a data set and a template (``POST /datasets``).

    There is one chain for a data set, template version, group and the values of parameters that are
    not bound to metadata. A repetition returns the first chain.

    Attributes:
        rank: It is added to the ranks of the steps of the chain.
    """

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
    """A request of a person to create a chain (operator service, ``POST /chains``).

    Without parameters, it is the chain that starts, or would start, by itself.

    Attributes:
        dataset_uid: The input data set. None means that the template takes no data set.
        template: The name of the template. Its latest version runs.
        run_template: The unpublished template of a run, which has the name ``template``.
        params: The values of parameters.
        rank: It is added to the ranks of the steps of a new chain.
    """

    dataset_uid: UUID | None = None
    template: Name
    run_template: UUID | None = None
    params: NewParams = Field(default_factory=dict)
    rank: ChainRank = 0.0


class RerunChain(Contract):
    """A request to rerun an ended chain (``POST /chains/{uid}/rerun``).

    ``…/rerun/plan`` only returns what a rerun would do. Without ``from_step`` and ``failed_only``,
    the steps that did not finish run. If all finished, all steps run, or those that new parameters
    change.

    Attributes:
        from_step: This step and all after it run again.
        failed_only: Steps with unfinished jobs and all after them run. Where possible, only these
            jobs run.
        params: Values that differ from those of the chain.
        key: A repeated request with the same key returns the first chain.
    """

    from_step: NewText | None = None
    failed_only: bool = False
    params: NewParams = Field(default_factory=dict)
    key: UUID | None = None


class RerunStep(Contract):
    """What a rerun does with a step.

    Attributes:
        name: The step.
        runs: Whether it runs. A step that is reused as a whole runs no job.
        jobs: The number of jobs that it runs, if it is known.
        taken: The number of finished jobs that it reuses.
        reason: The reason.
    """

    name: str
    runs: bool
    jobs: int | None = None
    taken: int = 0
    reason: str = ""


class RerunPlan(Contract):
    """The plan of a rerun.

    Attributes:
        missing: Required data that is gone. The rerun is refused if there is any.
    """

    chain_uid: UUID
    steps: list[RerunStep]
    params: dict[str, Any]
    missing: list[str]


class ChainDataset(Contract):
    """A data set of a chain.

    Attributes:
        uid: The data set.
        name: Its name.
        step: The step that writes it. None for the input of the chain and for the file of a
            parameter.
        port: The output port or the parameter. None for the logs of the step. A port that ends in
            ``~before`` is the output of the step in the chain of which this chain is a rerun.
        state: Its state in the chain.
    """

    uid: UUID
    name: str
    step: str | None
    port: str | None
    state: ChainDatasetStatus


class ChainCollection(Contract):
    """An output that is appended to an append-only data set.

    Without ``append_only`` and ``reason``, it is still to be appended.

    Attributes:
        output: The output of the workflow.
        name: The name of the append-only data set.
        append_only: The append-only data set, if the output was appended.
        files: How many files were appended.
        reason: Why the output was not appended.
    """

    output: str
    name: str
    append_only: UUID | None = None
    files: int | None = None
    reason: str = ""


#: The outcome of a chain or step that finished with failed jobs, as its template allows.
INCOMPLETE = "incomplete"


class ChainListState(StrEnum):
    """The states by which chains are listed. Incomplete chains have a separate name."""

    IN_PROGRESS = ChainState.IN_PROGRESS.value
    UPLOADING = ChainState.UPLOADING.value
    FINISHED = ChainState.FINISHED.value  #: includes incomplete chains
    INCOMPLETE = INCOMPLETE
    FAILED = ChainState.FAILED.value
    CANCELED = ChainState.CANCELED.value


def derive_outcome(state: ChainState | StepState, *, failed_jobs: int) -> str:
    """Return the state of a chain or step in one word; finished with failed jobs is incomplete."""
    finished = state in {ChainState.FINISHED, StepState.FINISHED}
    return INCOMPLETE if finished and failed_jobs else state.value


#: The explanation of a task that the WMS does not know yet.
STARTING_TEXT = "The step starts: its task has not reached the WMS yet."


class ChainStep(Contract):
    """A step of a chain.

    Attributes:
        reason: Why it failed or was canceled, in one sentence.
        failed_jobs: The number of its jobs that failed. Present only if the request asks for it.
        taken_from: The chain whose task did the work of the step. The step reuses its data sets.
        jobs_from: The chain from whose task the step reuses the outputs of finished jobs.
    """

    name: str
    state: StepState
    task_uid: UUID | None = None
    started_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    reason: str = ""
    failed_jobs: int = 0
    taken_from: UUID | None = None
    jobs_from: UUID | None = None

    @property
    def outcome(self) -> str:
        """Return the state in one word; finished with failed jobs is incomplete."""
        return derive_outcome(self.state, failed_jobs=self.failed_jobs)


class Chain(Contract):
    """A chain.

    Attributes:
        secrets: Parameters whose values are secrets, with their versions.
        reason: Why the chain failed, was canceled or will be, what a finished chain lacks, or why
            the upload of its output does not proceed (only for a single chain of the operator
            service).
        rerun_of: The chain that this chain repeats.
        rank: It is added to the ranks of the steps.
        acknowledged: Who has acknowledged the failure.
        failed_jobs: The number of failed jobs. In the list of finished chains that need attention,
            the number of failed jobs whose inputs stay until a person decides. Elsewhere, it is
            present only if the request asks for it.
        discarded: A person had its data deleted. Data that other chains need stay until these
            chains have ended.
    """

    uid: UUID
    state: ChainState
    template_id: UUID
    template: Name
    template_version: int
    dataset_uid: UUID
    dataset_name: str
    params: dict[str, Any]
    secrets: dict[str, SecretRef] = Field(default_factory=dict)
    created_at: Timestamp
    ended_at: Timestamp | None = None
    reason: str = ""
    rerun_of: UUID | None = None
    rank: float = 0.0
    acknowledged: Acknowledgement | None = None
    failed_jobs: int = 0
    discarded: bool = False
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    steps: list[ChainStep]
    datasets: list[ChainDataset]
    collected: list[ChainCollection] = Field(default_factory=list)

    @property
    def outcome(self) -> str:
        """Return the state in one word; finished with failed jobs is incomplete."""
        return derive_outcome(self.state, failed_jobs=self.failed_jobs)


class ChainOutput(Contract):
    """An output of a chain and its data set.

    Attributes:
        kind: As in ``PlanOutput``.
        single: As in ``PlanOutput``.
    """

    name: str
    kind: EntryKind = EntryKind.FILE
    single: bool = False
    dataset: Dataset


class ChainOutputs(Contract):
    """The outputs of a chain in the order of the workflow. Each appears with its data set."""

    chain: Chain
    outputs: list[ChainOutput]


class ChainPage(Contract):
    """A page of chains, newest first.

    Attributes:
        after: The cursor of the next page. None means that this is the last page.
    """

    chains: list[Chain]
    after: str | None


class TaskEnded(Contract):
    """A report that a task or upload has ended (watcher, ``POST /tasks/finished``).

    Attributes:
        uid: The task or upload.
        uid_prev: Its input data set.
    """

    kind: WatchKind = WatchKind.TASK
    uid: UUID
    uid_prev: UUID
    state: TaskState
    failed_jobs: int = 0
    reason: str = ""


class Release(Contract):
    """The data sets that nothing needs any more, which the watcher deletes."""

    datasets: list[UUID]


class Watch(Contract):
    """A request to follow a task or upload and report its end (watcher, ``POST /tasks``)."""

    kind: WatchKind
    uid: UUID
    chain_uid: UUID
    step: str | None = None
    dat_in_uid: UUID
    dat_out_uid: UUID
    log_out_uid: UUID | None = None


class Watched(Watch):
    """A task or upload that the watcher follows."""

    state: WatchState
    reported: bool


class WatchList(Contract):
    """The tasks and uploads that the watcher follows."""

    tasks: list[Watched]


class ChainTask(Contract):
    """A row of the operator's list of tasks.

    Attributes:
        jobs: Counts from the WMS. None if it does not answer or does not know the task yet.
    """

    task_uid: UUID
    chain_uid: UUID
    step: str
    template: str
    dataset_name: str
    state: StepState
    jobs: TaskStatus | None = None


class ChainTaskList(Contract):
    """A list of tasks.

    Attributes:
        after: The cursor of the next page, if the request asks for pages. None means that this is
            the last page.
    """

    tasks: list[ChainTask]
    after: str | None = None
