"""A template as the services see it: compiled once from CWL at upload: nobody else reads CWL or
evaluates an expression."""

import operator
from typing import Annotated, Any, Literal

from pydantic import Field

from sluice.contracts.append_only import Collect, Trigger
from sluice.contracts.asset_refs import AssetRef
from sluice.contracts.base import Contract, Share, absent
from sluice.contracts.needs import Needs
from sluice.contracts.secrets import SecretRef
from sluice.contracts.states import EntryKind, InputMode, Pick, TaskMode
from sluice.contracts.wire import FlatContract, FlattenedField, Wire

#: Types of a parameter that is a data set.
FILES = {"type": "array", "items": "File"}
DIRECTORIES = {"type": "array", "items": "Directory"}


class SecondaryFile(Contract):
    """A file beside a primary one, by CWL's pattern: each ``^`` at its start takes one ending off,
    the rest is put on."""

    pattern: str
    required: bool = True


class DataEntries(Contract):
    """What the entries of a data set from outside are in CWL; where they are no plain files, the
    catalogue has bundles."""

    type: Literal["File", "Directory"] = "File"
    secondary_files: list[SecondaryFile] = Field(default_factory=list)

    @property
    def kind(self) -> EntryKind:
        return (
            EntryKind.FILE if self.type == "File" and not self.secondary_files else EntryKind.BUNDLE
        )


class Parameter(Contract):
    """A workflow input other than the data set. ``type``: CWL type as JSON (a name such as ``int``,
    or a structure). ``entries``: of one whose value is a data set of bundles (directories, files
    with secondary files), what they are."""

    type: Any
    default: Any = None
    required: bool = False
    doc: str = ""
    entries: Annotated[DataEntries | None, Field(exclude_if=absent)] = None


class Equals(Contract):
    kind: Literal["equals"] = "equals"
    value: str | int | float | bool | None


class OneOf(Contract):
    kind: Literal["one_of"] = "one_of"
    values: list[str | int | float | bool]


class Between(Contract):
    """Both bounds belong to the range; None: open on that side."""

    kind: Literal["between"] = "between"
    minimum: float | None = None
    maximum: float | None = None


class Glob(Contract):
    """Shell pattern, case-sensitive."""

    kind: Literal["glob"] = "glob"
    pattern: str


Condition = Annotated[Equals | OneOf | Between | Glob, Field(discriminator="kind")]


class Require(Contract):
    """What must hold when a chain is made. ``files``, ``bytes``: how many the data set has;
    ``meta``: of its metadata, as in ``Plan.match``; ``parameters``: of the values of the chain's
    parameters."""

    files: Annotated[Condition | None, Field(exclude_if=absent)] = None
    bytes: Annotated[Condition | None, Field(exclude_if=absent)] = None
    meta: dict[str, Condition] = Field(default_factory=dict)
    parameters: dict[str, Condition] = Field(default_factory=dict)


class Boundary(Contract):
    """Shares of a step's input. Below ``minimum`` the task fails; at ``sufficient`` the rest is
    canceled, the task finished."""

    minimum: Share = 1.0
    sufficient: Share = 1.0


#: What is not tried again unless a step asks for it, as it ends in the same way: a tool that ran
#: over its time; one that ran out of memory where no node has more; one whose program is not there,
#: or cannot be run.
Hopeless = Literal["tool_timeout", "out_of_memory", "no_program"]


class Retry(Contract):
    """``attempts``: most attempts at each job. ``backoff``: seconds before the next attempt,
    doubled for each further one. ``also``: what is tried again although it ends in the same way.
    ``speculate``: a job that takes long may be begun by another pilot, too."""

    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    backoff: Annotated[float, Field(ge=0.0, le=86_400.0)] = 1.0
    also: Annotated[list[Hopeless], Field(exclude_if=operator.not_)] = Field(default_factory=list)
    speculate: Annotated[bool, Field(exclude_if=bool)] = True


class MergeGroups(Contract):
    """How the files of a merge step are grouped, in order; at most one is given, neither: all files
    in one job. ``tree``: what the groups give is merged in groups again, until there is one file.
    """

    files: Annotated[int, Field(ge=1)] | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None
    tree: bool = False


class Batch(Contract):
    """So many entries, in order, are one job; the tool runs for each by itself."""

    files: Annotated[int, Field(ge=1, le=1000)] = 1


class Source(Contract):
    """Where a step's files come from: an output of a step, or (``step`` None) the workflow's data
    input or a parameter that is a file."""

    step: str | None
    port: str


#: So many numbers has each of the data sets that stand one behind the other; a file's own number
#: must be below.
STRIDE = 10**13


class NextSource(Contract):
    """A source whose files come behind those of another; ``start`` is added to their numbers."""

    source: Source
    start: int = 0


class StepInput(Contract):
    """A data set that a step reads. ``optional``: its tool does without (CWL ``File?``), where
    there is no file. ``next_sources``: files that come behind those of ``source``; ``pick``: one
    file is taken of all that there are."""

    port: str
    source: Source
    next_sources: list[NextSource] = Field(default_factory=list)
    pick: Pick | None = None
    mode: InputMode
    optional: bool = False
    kind: EntryKind = EntryKind.FILE

    @property
    def sources(self) -> list[Source]:
        return [self.source, *(further.source for further in self.next_sources)]


def main_input_mode(mode: TaskMode) -> InputMode:
    """What a job gets of the main input."""
    return InputMode.ALL if mode is TaskMode.MERGE else InputMode.EACH


def mode_on_the_wire(wire: Wire) -> InputMode:
    """The same, of a step or task in the flat form, which may be wrong."""
    return main_input_mode(TaskMode.MERGE if wire.get("mode") == TaskMode.MERGE else TaskMode.MAP)


class ParameterRef(Contract):
    """A step input that takes the value of a workflow parameter."""

    kind: Literal["parameter"] = "parameter"
    name: str


class Constant(Contract):
    """A step input with a fixed value (its ``default``)."""

    kind: Literal["constant"] = "constant"
    value: Any


Argument = Annotated[ParameterRef | Constant, Field(discriminator="kind")]


class StepOutput(Contract):
    """``optional``: the tool may give nothing (CWL ``File?``): that filters. ``spread``: the tool
    gives a list in the step's only job, and each of its items is an entry of its own."""

    port: str
    optional: bool = False
    kind: EntryKind = EntryKind.FILE
    spread: bool = False


class PlanStep(FlatContract):
    """One step: a task over a data set. It scatters over the data sets of which a job gets ``EACH``
    file, and over the lists at ``needs.items``, which are among the ``arguments``; where there are
    such lists alone, or the step runs once on what a chain is given beside its data set, the main
    input is the chain's data set, of which a job gets ``NONE``.
    ``tool``: the CommandLineTool as a self-contained CWL document (JSON). In the stored form, the
    main input stands in ``source`` and ``data_*``, further ones in ``side_inputs``."""

    name: str
    doc: str = ""
    mode: TaskMode
    #: The first is the main one: jobs are made of its files.
    inputs: Annotated[
        list[StepInput],
        Field(min_length=1),
        FlattenedField(
            called={
                "port": "data_port",
                "mode": "data_mode",
                "optional": "data_optional",
                "kind": "data_kind",
            },
            further="side_inputs",
            implied={"mode": mode_on_the_wire},
        ),
    ]
    #: There is exactly one job, also where there is no file: the step runs on single values.
    single: bool = False
    arguments: dict[str, Argument] = Field(default_factory=dict)
    outputs: Annotated[list[StepOutput], Field(min_length=1)]
    tool: dict[str, Any]
    boundary: Boundary = Boundary()
    retry: Retry = Retry()
    rank: float = 1.0
    groups: MergeGroups = MergeGroups()
    batch: Batch = Batch()
    #: ``dataset``: it waits for the whole data set, also where it could take files as they come.
    flow: Annotated[Literal["dataset"] | None, Field(exclude_if=absent)] = None
    needs: Annotated[Needs, FlattenedField()] = Needs()
    #: Ports of which each combination is a job, the last one's entries the fastest; none: what is
    #: scattered over is taken together, by number.
    cross: Annotated[list[str], Field(exclude_if=operator.not_)] = Field(default_factory=list)
    #: What is taken together is so by its place in each, not by number.
    by_place: Annotated[bool, Field(exclude_if=operator.not_)] = False

    @property
    def in_words(self) -> str:
        kept = self.needs.checkpoint
        return f"{self.mode.value}, {kept.words}" if kept else self.mode.value

    @property
    def main_input(self) -> StepInput:
        return self.inputs[0]

    @property
    def takes_as_they_come(self) -> bool:
        """Can it begin before what its jobs get one file, or a group, of is complete? The WMS makes
        jobs of what is there where it can, and else waits."""
        in_parts = self.mode is TaskMode.MAP or self.groups != MergeGroups()
        by_number = not self.cross and not self.needs.items and not self.by_place
        return in_parts and by_number and not self.single and self.flow is None

    @property
    def inputs_that_come(self) -> list[StepInput]:
        """Of which a job gets a file, or a group of files."""
        if self.mode is TaskMode.MERGE:
            return [self.main_input]
        return [given for given in self.inputs if given.mode is InputMode.EACH]

    @property
    def sources(self) -> list[Source]:
        """Of all data sets that it reads."""
        return [source for given in self.inputs for source in given.sources]


class PlanOutput(Contract):
    """A workflow output: the data set that ``step`` writes at ``port``. ``single``: one value in
    CWL, no list of them. ``collect``: the standing data set that its files are appended to."""

    name: str
    step: str
    port: str
    kind: EntryKind = EntryKind.FILE
    single: bool = False
    collect: Annotated[Collect | None, Field(exclude_if=absent)] = None


class Retention(Contract):
    """What is deleted when a chain has finished.

    ``input``: what becomes of the first input once the output is safe. ``only_copies``: delete it
    even where nobody said that it is a copy; true where the template itself says ``input: delete``.
    ``logs``: whether the logs of a step go with its output when none of its jobs failed; those of
    failed steps and of steps that wrote the workflow's output stay in any case."""

    input: Literal["delete", "keep"] = "delete"
    only_copies: Annotated[bool, Field(exclude_if=operator.not_)] = False
    logs: Literal["delete", "keep"] = "delete"


class Plan(Contract):
    """Steps stand in document order and form a graph without cycles. ``data_input``: the input that
    is the data set; empty: there is none, and a chain is made of values alone."""

    name: str
    doc: str = ""
    cwl_version: str
    data_input: str
    data_entries: DataEntries = DataEntries()
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    match: dict[str, Condition] = Field(default_factory=dict)
    #: It runs by growth or by the clock: ``match`` is of the standing data sets that it takes
    #: slices of.
    due: Annotated[Trigger | None, Field(exclude_if=absent)] = None
    priority: int = 0
    bind: dict[str, str] = Field(default_factory=dict)
    #: Parameters that are given by nobody: their values are secrets.
    secrets: Annotated[dict[str, SecretRef], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict
    )
    #: Parameters whose values are files of assets, unless somebody gives another one.
    assets: Annotated[dict[str, AssetRef], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict
    )
    require: Annotated[Require | None, Field(exclude_if=absent)] = None
    retention: Retention = Retention()
    steps: Annotated[list[PlanStep], Field(min_length=1)]
    outputs: Annotated[list[PlanOutput], Field(min_length=1)]

    @property
    def takes_dataset(self) -> bool:
        return bool(self.data_input)

    @property
    def file_parameters(self) -> list[str]:
        """Parameters whose value is a file or directory, or those of a data set or an asset: steps
        read it as a data set, by a source whose port is the parameter."""
        return [
            name
            for name, parameter in self.parameters.items()
            if parameter.type in ("File", "Directory", FILES, DIRECTORIES) or name in self.assets
        ]

    @property
    def dataset_parameters(self) -> list[str]:
        """Those of them that are all entries of a data set that each chain is given."""
        return [
            name
            for name in self.file_parameters
            if self.parameters[name].type in (FILES, DIRECTORIES) and name not in self.assets
        ]

    def step(self, name: str) -> PlanStep:
        """The step of that name; ``KeyError`` when there is none."""
        for step in self.steps:
            if step.name == name:
                return step
        raise KeyError(name)

    def depth(self, name: str) -> int:
        """How many steps lie before that one on the longest way to it; ``KeyError`` as ``step``."""
        known: dict[str, int] = {}

        def of(name: str) -> int:
            if name not in known:
                before = {source.step for source in self.step(name).sources if source.step}
                known[name] = max((of(step) + 1 for step in before), default=0)
            return known[name]

        return of(name)
