"""The links between steps: what feeds what, and which steps are maps and which are merges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.cwl.dataflow.cycles import refuse_cycles
from sluice.cwl.dataflow.data_input import find_bundle_lists, find_data_input, is_bundle_input
from sluice.cwl.dataflow.items import is_list_link, is_valid_scatter
from sluice.cwl.dataflow.merging import check_merge, is_merged, merged_stream
from sluice.cwl.dataflow.streams import EntryStream, EntryStreams
from sluice.cwl.documents.types import (
    ARRAY_OF_DIRECTORIES,
    ARRAY_OF_FILES,
    is_optional,
    without_null,
)
from sluice.cwl.documents.workflow import Link, SourcePort, Step, StepInputName, Workflow
from sluice.cwl.features import SOURCES
from sluice.cwl.reading.findings import Findings, suggest_or_list
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class SideLink:
    """A link that brings a data set to jobs that another data set makes."""

    link: Link
    mode: InputMode


@dataclass(slots=True)
class Wiring:
    """The links of a workflow, resolved.

    ``data_links`` has the data set that makes the jobs of a step, and ``side_links`` the data sets
    that the step reads besides. A step without a data link scatters over values only, or runs once
    on what the chain is given. A step with wrong links is missing in ``modes``, ``data_links`` and
    ``side_links``.
    """

    #: The input that is the data set, or None if all inputs are parameters.
    data_input: str | None = None
    #: Inputs that are single files or directories, or further data sets, or bound to assets.
    #: Operators see them as parameters, and steps see them as data sets.
    file_inputs: frozenset[str] = frozenset()
    #: The file inputs that are data sets like ``data_input``. Each chain gets a data set for them.
    further_inputs: frozenset[str] = frozenset()
    #: The file inputs that are bound to assets.
    asset_inputs: frozenset[str] = frozenset()
    #: The file inputs whose value is one bundle.
    bundle_inputs: frozenset[str] = frozenset()
    #: The further inputs whose entries are bundles: the items of a list that a step scatters over.
    bundle_lists: frozenset[str] = frozenset()
    origins: dict[StepInputName, SourcePort] = field(default_factory=dict)
    #: The sources after the first, for links with several sources.
    further_sources: dict[StepInputName, list[SourcePort]] = field(default_factory=dict)
    outputs: dict[str, SourcePort] = field(default_factory=dict)
    data_links: dict[str, Link] = field(default_factory=dict)
    side_links: dict[str, list[SideLink]] = field(default_factory=dict)
    #: The inputs that get the items, for steps that scatter over lists of values.
    item_links: dict[str, list[Link]] = field(default_factory=dict)
    modes: dict[str, TaskMode] = field(default_factory=dict)
    #: The entries of each data set, and the entries that each input of a step reads.
    streams: dict[SourcePort, EntryStream] = field(default_factory=dict)
    input_streams: dict[StepInputName, EntryStream] = field(default_factory=dict)
    #: Inputs of steps that cannot be read as written.
    refused_inputs: set[StepInputName] = field(default_factory=set)

    @property
    def data_inputs(self) -> frozenset[str]:
        """The inputs of the workflow that steps see as data sets."""
        return self.file_inputs | ({self.data_input} if self.data_input is not None else set())

    def find_stream(self, step: str, port: str) -> EntryStream | None:
        """Return what an input of a step reads, or None if it reads no data set."""
        return self.input_streams.get((step, port))

    def is_data(self, step: str, link: str) -> bool:
        """Return whether the link brings a data set."""
        return (step, link) in self.input_streams

    def sources(self, step: str, link: str) -> list[SourcePort]:
        """Return all sources of a link in order, or an empty list if it has none or a wrong one."""
        origin = self.origins.get((step, link))
        return [] if origin is None else [origin, *self.further_sources.get((step, link), ())]

    def all_sources(self) -> Iterator[tuple[str, str, SourcePort]]:
        """Yield (step, link, origin) for every source of every step."""
        for step, link in self.origins:
            for origin in self.sources(step, link):
                yield step, link, origin


def read_links(
    workflow: Workflow,
    findings: Findings,
    *,
    assets: frozenset[str],
    appended_outputs: frozenset[str] = frozenset(),
) -> Wiring:
    """Resolve the links of a workflow and find their entries, and report wrong ones.

    Args:
        workflow: The workflow.
        findings: Gets the errors.
        assets: The inputs that are bound to assets.
        appended_outputs: The outputs whose files go to append-only data sets.
    """
    wiring = _classify_inputs(workflow, assets)
    resolver = _Resolver(workflow, findings)
    for step in workflow.steps.values():
        for link in step.links.values():
            origins = resolver.resolve(link, step.describe_input(link.name))
            if origins:
                wiring.origins[step.name, link.name], *further_sources = origins
                if further_sources:
                    wiring.further_sources[step.name, link.name] = further_sources
    for output in workflow.outputs.values():
        origin = resolver.resolve_output(output)
        if origin is not None:
            wiring.outputs[output.name] = origin
    refuse_cycles(workflow, list(wiring.all_sources()), findings)
    appended_sources = frozenset(
        wiring.outputs[name] for name in appended_outputs & wiring.outputs.keys()
    )
    _read_streams(workflow, wiring, appended_sources)
    return wiring


def read_modes(workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """Find what makes the jobs of each step, and report links that cannot be read as data sets."""
    for step in workflow.steps.values():
        if step.has_tool:
            _read_data_links(step, workflow, wiring, findings)


def _classify_inputs(workflow: Workflow, assets: frozenset[str]) -> Wiring:
    """Return the wiring with the inputs only: which are data sets, files, bundles and assets."""
    data, ports = find_data_input(workflow, assets), workflow.inputs.values()
    bundle_lists = find_bundle_lists(workflow, assets)
    bundle_inputs = frozenset(port.name for port in ports if is_bundle_input(port))
    bundle_inputs -= assets | bundle_lists
    kinds = {port.name: without_null(port.type) for port in ports}
    further_inputs = bundle_lists | {
        name
        for name, kind in kinds.items()
        if kind in (ARRAY_OF_FILES, ARRAY_OF_DIRECTORIES)
        and name not in assets | bundle_inputs | {data}
    }
    file_inputs = frozenset(
        name
        for name, kind in kinds.items()
        if kind in ("File", "Directory") or (name in assets and kind == ARRAY_OF_FILES)
    )
    return Wiring(
        data,
        file_inputs | further_inputs | bundle_inputs,
        further_inputs,
        assets & file_inputs,
        bundle_inputs,
        bundle_lists,
    )


def _read_streams(
    workflow: Workflow, wiring: Wiring, appended_sources: frozenset[SourcePort]
) -> None:
    links = {place: wiring.sources(*place) for place in wiring.origins}
    streams = EntryStreams(
        workflow,
        wiring.data_inputs,
        wiring.asset_inputs,
        wiring.bundle_inputs,
        links=links,
        appended_ports=appended_sources,
    )
    step_outputs = [
        SourcePort(step.name, port) for step in workflow.steps.values() for port in step.outputs
    ]
    for origin in [*(source for origins in links.values() for source in origins), *step_outputs]:
        stream = streams.find(origin)
        if stream is not None:
            wiring.streams[origin] = stream
    for (step, name), origins in links.items():
        stream = merged_stream(
            workflow.steps[step].links[name], [wiring.streams.get(origin) for origin in origins]
        )
        if stream is not None:
            wiring.input_streams[step, name] = stream


@dataclass(frozen=True, slots=True)
class _Resolver:
    workflow: Workflow
    findings: Findings

    def resolve(self, link: Link, subject: str) -> list[SourcePort]:
        """Return the sources of a link, or an empty list if it has none or a wrong one."""
        if link.sources is None:
            return []
        if not link.sources:
            self.findings.error(link.source_place, f"{subject} has no sources")
        origins = [self._resolve_source(source, link, subject) for source in link.sources]
        return [] if None in origins else [origin for origin in origins if origin is not None]

    def _resolve_source(self, source: str, link: Link, subject: str) -> SourcePort | None:
        step, slash, port = source.rpartition("/")
        if not slash:
            if source in self.workflow.inputs:
                return SourcePort(None, source)
            known_sources = [*self.workflow.inputs, *self._step_outputs()]
            self.findings.error(
                link.source_place,
                f"{subject}: there is no input {quoted(source)} of the"
                f" workflow{suggest_or_list(source, known_sources)}",
            )
        elif step not in self.workflow.steps:
            hint = suggest_or_list(step, self.workflow.steps)
            self.findings.error(
                link.source_place, f"{subject}: there is no step {quoted(step)}{hint}"
            )
        elif port not in self.workflow.steps[step].outputs:
            hint = suggest_or_list(port, self.workflow.steps[step].outputs)
            self.findings.error(
                link.source_place,
                f"{subject}: step {quoted(step)} has no output {quoted(port)} in its 'out'{hint}",
            )
        else:
            return SourcePort(step, port)
        return None

    def _step_outputs(self) -> Iterator[str]:
        for step in self.workflow.steps.values():
            yield from (f"{step.name}/{port}" for port in step.outputs)

    def resolve_output(self, link: Link) -> SourcePort | None:
        """Return the source of a workflow output, or None after an error."""
        subject = f"output {quoted(link.name)}"
        if link.sources is None:
            self.findings.error(
                link.place, f"{subject} has no 'outputSource': name the output of a step"
            )
            return None
        advice = SOURCES["output that is an input of the workflow"].note
        for origin in self.resolve(link, subject):
            if origin.step is not None:
                return origin
            self.findings.error(
                link.source_place,
                f"{subject} is an input of the workflow; outputs come from steps: {advice}",
            )
        return None


def _read_data_links(step: Step, workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """Find the inputs of a step that take data sets, and the mode of the step.

    A step that takes only values and files that are parameters runs once.
    """
    links = [link for link in step.links.values() if wiring.is_data(step.name, link.name)]
    job_links = [
        link
        for link in links
        if link.name in step.scatter
        or not all(
            _is_single_file(source, wiring) for source in wiring.sources(step.name, link.name)
        )
    ]
    scatter_links = [step.links[name] for name in step.scatter if name in step.links]
    items = [link for link in scatter_links if not wiring.is_data(step.name, link.name)]
    valid_links = [
        _is_one_data_set(step, link, workflow, wiring, findings=findings) for link in links
    ]
    valid_items = [
        is_list_link(step, link, workflow, origins=wiring.origins, findings=findings)
        for link in items
    ]
    if not is_valid_scatter(step, findings) or not all([*valid_links, *valid_items]):
        return
    modes = {
        link.name: _input_mode(step, link, wiring.find_stream(step.name, link.name))
        for link in links
    }
    wiring.item_links[step.name] = items
    scattered_links = [link for link in job_links if link.name in step.scatter]
    has_no_main_link = not job_links or (items and not scattered_links)
    main_link = None if has_no_main_link else _main_link(step, scattered_links or job_links, modes)
    if main_link is not None:
        wiring.data_links[step.name] = main_link
    wiring.side_links[step.name] = [
        SideLink(link, modes[link.name]) for link in links if link is not main_link
    ]
    is_merge = main_link is not None and modes[main_link.name] is InputMode.ALL
    wiring.modes[step.name] = TaskMode.MERGE if is_merge else TaskMode.MAP


def _main_link(step: Step, links: Sequence[Link], modes: Mapping[str, InputMode]) -> Link:
    """Return the link whose data set makes the jobs.

    A link that is scattered over comes first, then one that is taken whole. Among equals, a link
    that the tool requires comes first.
    """
    order = (InputMode.EACH, InputMode.ALL, InputMode.ONE)

    def rank(link: Link) -> tuple[int, bool]:
        return order.index(modes[link.name]), is_optional(step.input_type(link.name))

    return min(links, key=rank)


def _input_mode(step: Step, link: Link, stream: EntryStream | None) -> InputMode:
    """Return how a job takes the link.

    The step decides what is scattered over. For all other links the source decides: a list and the
    files of a folder come whole, and a single value comes alone.
    """
    if link.name in step.scatter:
        return InputMode.EACH
    takes_all = stream is not None and (stream.many or stream.folder)
    return InputMode.ALL if takes_all else InputMode.ONE


def _is_single_file(origin: SourcePort, wiring: Wiring) -> bool:
    """Return whether the source is a single file, directory or asset among the inputs."""
    parameters = wiring.file_inputs - wiring.further_inputs
    return origin.step is None and origin.port in parameters


def _is_one_data_set(
    step: Step, link: Link, workflow: Workflow, wiring: Wiring, *, findings: Findings
) -> bool:
    """Return whether the sources of a link form one data set, and report why not."""
    origins = wiring.sources(step.name, link.name)
    streams = [wiring.streams.get(origin) for origin in origins]
    if (
        step.for_output is not None
        and step.scatter
        and any(stream is not None and stream.many for stream in streams)
    ):
        findings.error(
            link.source_place,
            f"{step.describe_input(link.name)} joins whole data sets:"
            f" {SOURCES['outputs that join whole data sets'].note}",
        )
    elif bundle := _find_divided_bundle(step, link, wiring):
        findings.error(
            link.source_place,
            f"{step.describe_input(link.name)} divides or joins the value of parameter"
            f" {quoted(bundle)}, which contains files: only a job can do this",
        )
    elif check_merge(link, streams, step.describe_input(link.name), findings):
        return True
    wiring.refused_inputs.add((step.name, link.name))
    return False


def _find_divided_bundle(step: Step, link: Link, wiring: Wiring) -> str | None:
    """Return the input with bundles that the step scatters over or merges, or None."""
    merges = is_merged(link) or "pickValue" in link.body
    bundles = wiring.bundle_inputs | (wiring.bundle_lists if merges else frozenset())
    origins = wiring.sources(step.name, link.name) if link.name in step.scatter else []
    return next(
        (origin.port for origin in origins if origin.step is None and origin.port in bundles), None
    )
