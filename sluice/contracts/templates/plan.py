"""The plan of a template. Services use it instead of CWL, which is compiled once, at upload."""

from typing import Annotated, Any, Literal

from pydantic import Field

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.base import Contract, Share, tag
from sluice.contracts.common.states import EntryKind, InputMode, Pick, TaskMode
from sluice.contracts.data.append_only import Collect, Trigger
from sluice.contracts.data.asset_refs import AssetRef
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.templates.conditions import Condition, Require

#: Types of a parameter whose value is a data set.
FILES = {"type": "array", "items": "File"}
DIRECTORIES = {"type": "array", "items": "Directory"}


class SecondaryFile(Contract):
    """A secondary file. Each leading ``^`` of the pattern removes an ending, the rest is added."""

    pattern: str
    required: bool = True


class DataEntries(Contract):
    """The CWL type of an input data set's entries. All but plain files are stored as bundles.

    ``Any`` is a value of another type with files in it, such as a record or a union.
    """

    type: Literal["File", "Directory", "Any"] = "File"
    secondary_files: list[SecondaryFile] = Field(default_factory=list)

    @property
    def kind(self) -> EntryKind:
        """Return what an entry is in the catalogue."""
        return (
            EntryKind.FILE if self.type == "File" and not self.secondary_files else EntryKind.BUNDLE
        )


class Parameter(Contract):
    """An input of the workflow other than the data set.

    Attributes:
        type: A CWL type in JSON.
        entries: The entries of a data set of bundles.
        entry_per_item: Whether the value is a list whose items are bundles, one an entry.
    """

    type: Any
    default: Any = None
    required: bool = False
    doc: str = ""
    entries: DataEntries | None = None
    entry_per_item: bool = False

    @property
    def is_bundle(self) -> bool:
        """Return whether a value with files is one bundle; a value without files is plain JSON."""
        has_bundles = self.entries is not None and self.entries.type == "Any"
        return has_bundles and not self.entry_per_item


class Boundary(Contract):
    """Shares of the jobs of a task.

    Attributes:
        minimum: If fewer jobs can succeed, the task fails.
        sufficient: At this share, the task is finished and the rest is canceled.
    """

    minimum: Share = 1.0
    sufficient: Share = 1.0


#: Failures that are retried only on request, because they would occur again: an exceeded time
#: limit, too little memory on all nodes, and a missing or broken program (a case of several error
#: classes).
RetryOverride = Literal["tool_timeout", "out_of_memory", "no_program"]


class Retry(Contract):
    """How jobs of a step are retried.

    Attributes:
        attempts: The maximum number of attempts of each job.
        backoff: Seconds before the second attempt. The time doubles for each further attempt.
        also: Errors that are retried although they are likely to occur again.
        speculate: Whether stragglers may get duplicate attempts.
    """

    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    backoff: Annotated[float, Field(ge=0.0, le=86_400.0)] = 1.0
    also: list[RetryOverride] = Field(default_factory=list)
    speculate: bool = True


class MergeGroups(Contract):
    """How the files of a merge step are grouped, in order.

    At most one of ``files`` and ``bytes`` is given. Without both, one job gets all files.

    Attributes:
        files: The number of files in a group.
        bytes: The size of a group in bytes.
        tree: The outputs of the groups are merged in groups again, until one file is left.
    """

    files: Annotated[int, Field(ge=1)] | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None
    tree: bool = False


class Batch(Contract):
    """The number of entries, in order, in one job. The tool runs once for each entry."""

    files: Annotated[int, Field(ge=1, le=1000)] = 1


class Source(Contract):
    """The source of a step's files.

    Attributes:
        step: The step that writes them. None for an input of the workflow.
        port: The output of the step, or the input of the workflow.
    """

    step: str | None
    port: str


#: The distance between the file numbers of joined data sets. A file's own number must be less.
STRIDE = 10**13


class NextSource(Contract):
    """A source whose files follow those of another.

    Attributes:
        start: The number that is added to the numbers of its files.
    """

    source: Source
    start: int = 0


class StepInput(Contract):
    """A data set that a step reads.

    Attributes:
        next_sources: Sources whose files follow those of ``source``.
        pick: Which one of all these files is taken.
        optional: The tool runs also without a file (CWL: ``File?``).
    """

    port: str
    source: Source
    next_sources: list[NextSource] = Field(default_factory=list)
    pick: Pick | None = None
    mode: InputMode
    optional: bool = False
    kind: EntryKind = EntryKind.FILE

    @property
    def sources(self) -> list[Source]:
        """Return all sources of the input, in order."""
        return [self.source, *(further.source for further in self.next_sources)]


def main_input_mode(mode: TaskMode) -> InputMode:
    """Return what a job gets of the main input."""
    return InputMode.ALL if mode is TaskMode.MERGE else InputMode.EACH


class ParameterRef(Contract):
    """An argument that has the value of a workflow parameter."""

    kind: Literal["parameter"] = tag("parameter")
    name: str


class Constant(Contract):
    """An argument with a fixed value (the ``default`` of the step input)."""

    kind: Literal["constant"] = tag("constant")
    value: Any


Argument = Annotated[ParameterRef | Constant, Field(discriminator="kind")]


class StepOutput(Contract):
    """An output of a step.

    Attributes:
        optional: The tool may write nothing (CWL: ``File?``), so the step is a filter.
        spread: The step has one job that writes a list. Each item becomes an entry.
    """

    port: str
    optional: bool = False
    kind: EntryKind = EntryKind.FILE
    spread: bool = False


class PlanStep(Contract):
    """A step of the workflow.

    The step scatters over the data sets with mode ``EACH`` and the lists at ``needs.items``, which
    are among the ``arguments``. If no data set determines the jobs, the main input is the chain's
    data set, with mode ``NONE``.

    Attributes:
        inputs: The first input is the main input. Jobs are made of its files.
        single: The step runs on single values. It has exactly one job, even if there is no file.
        tool: The CommandLineTool as a self-contained CWL document in JSON.
        flow: ``dataset`` makes the step wait for the whole data set (no dataflow scheduling).
        cross: Ports whose combinations are jobs. The last port varies fastest. Without such ports,
            entries with the same number belong together.
        by_place: Entries at the same position belong together, not those with the same number.
    """

    name: str
    doc: str = ""
    mode: TaskMode
    inputs: Annotated[list[StepInput], Field(min_length=1)]
    single: bool = False
    arguments: dict[str, Argument] = Field(default_factory=dict)
    outputs: list[StepOutput]
    tool: dict[str, Any]
    boundary: Boundary = Boundary()
    retry: Retry = Retry()
    rank: float = 1.0
    groups: MergeGroups = MergeGroups()
    batch: Batch = Batch()
    flow: Literal["dataset"] | None = None
    needs: Needs = Needs()
    cross: list[str] = Field(default_factory=list)
    by_place: bool = False

    @property
    def in_words(self) -> str:
        """Return the mode and the checkpoint of the step for people."""
        checkpoint = self.needs.checkpoint
        return f"{self.mode.value}, {checkpoint.words}" if checkpoint else self.mode.value

    @property
    def main_input(self) -> StepInput:
        """Return the input that jobs are made of."""
        return self.inputs[0]

    @property
    def can_stream(self) -> bool:
        """Return whether jobs can be created before all input files exist."""
        in_parts = self.mode is TaskMode.MAP or self.groups != MergeGroups()
        by_number = not self.cross and not self.needs.items and not self.by_place
        return in_parts and by_number and not self.single and self.flow is None

    @property
    def streamed_inputs(self) -> list[StepInput]:
        """Return the inputs of which a job gets one file or one group of files."""
        if self.mode is TaskMode.MERGE:
            return [self.main_input]
        return [step_input for step_input in self.inputs if step_input.mode is InputMode.EACH]

    def streams(self, source: Source) -> bool:
        """Return whether jobs can be created before all files of ``source`` exist."""
        return self.can_stream and all(
            step_input in self.streamed_inputs
            for step_input in self.inputs
            if source in step_input.sources
        )

    @property
    def sources(self) -> list[Source]:
        """Return the sources of all inputs."""
        return [source for step_input in self.inputs for source in step_input.sources]


class PlanOutput(Contract):
    """An output of the workflow, which is the data set that a step writes.

    Attributes:
        step: The step.
        port: The output port of the step.
        single: The output is one value in CWL. Otherwise it is a list.
        collect: The append-only data set that gets the files.
    """

    name: str
    step: str
    port: str
    kind: EntryKind = EntryKind.FILE
    single: bool = False
    collect: Collect | None = None


class Retention(Contract):
    """What is deleted when a chain has finished.

    Attributes:
        input: What happens to the input data set once the output is safe.
        only_copies: The template says ``input: delete``. Otherwise the input is deleted only if it
            is registered as a copy.
        logs: Whether logs of a step are deleted with its output. They stay if a job of the step
            failed, or if the step wrote an output of the workflow.
    """

    input: Literal["delete", "keep"] = "delete"
    only_copies: bool = False
    logs: Literal["delete", "keep"] = "delete"


class Plan(Contract):
    """The plan of a template.

    Attributes:
        data_input: The name of the input for the data set. If it is empty, a chain has no data set,
            only values.
        trigger: The trigger. ``match`` then applies to the append-only data sets whose slices it
            takes.
        secrets: Parameters whose values are secrets. Nobody gives values for them.
        assets: Parameters whose values are files of assets, unless a request gives other values.
        steps: The steps in document order, without cycles.
    """

    name: str
    doc: str = ""
    cwl_version: str
    data_input: str
    data_entries: DataEntries = DataEntries()
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    match: dict[str, Condition] = Field(default_factory=dict)
    trigger: Trigger | None = None
    priority: int = 0
    bind: dict[str, str] = Field(default_factory=dict)
    secrets: dict[str, SecretRef] = Field(default_factory=dict)
    assets: dict[str, AssetRef] = Field(default_factory=dict)
    require: Require | None = None
    retention: Retention = Retention()
    steps: Annotated[list[PlanStep], Field(min_length=1)]
    outputs: list[PlanOutput]

    @property
    def takes_dataset(self) -> bool:
        """Return whether a chain needs a data set."""
        return bool(self.data_input)

    @property
    def file_parameters(self) -> list[str]:
        """Return the parameters with files, which steps read as data sets (by ``Source.port``)."""
        return [
            name
            for name, parameter in self.parameters.items()
            if parameter.type in ("File", "Directory", FILES, DIRECTORIES)
            or name in self.assets
            or parameter.is_bundle
            or parameter.entry_per_item
        ]

    @property
    def dataset_parameters(self) -> list[str]:
        """Return the file parameters whose value is a whole data set, given for each chain."""
        return [
            name
            for name in self.file_parameters
            if self.parameters[name].entry_per_item
            or (
                self.parameters[name].type in (FILES, DIRECTORIES)
                and name not in self.assets
                and not self.parameters[name].is_bundle
            )
        ]

    def step(self, name: str) -> PlanStep:
        """Return the step of this name, or raise ``KeyError``."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def depth(self, name: str) -> int:
        """Return the number of steps before this step, on the longest path to it."""
        depths: dict[str, int] = {}

        def depth_of(name: str) -> int:
            if name not in depths:
                before = {source.step for source in self.step(name).sources if source.step}
                depths[name] = max((depth_of(step) + 1 for step in before), default=0)
            return depths[name]

        return depth_of(name)
