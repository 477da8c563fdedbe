"""The links between steps: what feeds what, and which steps are maps and which are merges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.cwl.dataflow.data_input import find_data_input
from sluice.cwl.dataflow.items import are_items
from sluice.cwl.dataflow.merging import check_merge, merged_stream
from sluice.cwl.dataflow.streams import EntryStream, EntryStreams
from sluice.cwl.documents.types import (
    ARRAY_OF_DIRECTORIES,
    ARRAY_OF_FILES,
    is_optional,
    without_null,
)
from sluice.cwl.documents.workflow import InputOfStep, Link, SourcePort, Step, Workflow
from sluice.cwl.features import SCATTER_METHODS, SOURCES
from sluice.cwl.reading.findings import Findings, circle, did_you_mean
from sluice.text.visible_text import quoted


@dataclass(frozen=True, slots=True)
class SideLink:
    """A link that brings a data set beside the one that makes the jobs."""

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

    #: None: the workflow takes no data set, so its inputs are parameters.
    data_input: str | None = None
    #: Inputs that are single files or directories, or that are bound to assets. Operators see them
    #: as parameters, steps see them as data sets. Further data sets belong to them, too.
    file_inputs: frozenset[str] = frozenset()
    #: The inputs among them that are data sets like the first one: each chain is given one.
    further_inputs: frozenset[str] = frozenset()
    #: The inputs among them that are bound to assets.
    asset_inputs: frozenset[str] = frozenset()
    origins: dict[InputOfStep, SourcePort] = field(default_factory=dict)
    #: Of links with several sources, the sources after the first.
    further: dict[InputOfStep, list[SourcePort]] = field(default_factory=dict)
    outputs: dict[str, SourcePort] = field(default_factory=dict)
    data_links: dict[str, Link] = field(default_factory=dict)
    side_links: dict[str, list[SideLink]] = field(default_factory=dict)
    #: Of steps that scatter over lists of values, the inputs that get the items.
    item_links: dict[str, list[Link]] = field(default_factory=dict)
    modes: dict[str, TaskMode] = field(default_factory=dict)
    #: What each data set holds, and what each input of a step reads.
    streams: dict[SourcePort, EntryStream] = field(default_factory=dict)
    read: dict[InputOfStep, EntryStream] = field(default_factory=dict)
    #: Inputs of steps that cannot be read as written.
    refused: set[InputOfStep] = field(default_factory=set)

    @property
    def data_inputs(self) -> frozenset[str]:
        """The inputs of the workflow that steps see as data sets."""
        return self.file_inputs | ({self.data_input} if self.data_input is not None else set())

    def stream_of(self, step: str, port: str) -> EntryStream | None:
        """Return what an input of a step reads, or None if it reads no data set."""
        return self.read.get((step, port))

    def is_data(self, step: str, link: str) -> bool:
        """Return whether the link brings a data set."""
        return (step, link) in self.read

    def sources(self, step: str, link: str) -> list[SourcePort]:
        """Return all sources of a link in order, or an empty list if it has none or a wrong one."""
        found = self.origins.get((step, link))
        return [] if found is None else [found, *self.further.get((step, link), ())]

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
    collected: frozenset[str] = frozenset(),
) -> Wiring:
    """Resolve the links of a workflow, and report wrong ones.

    Args:
        workflow: The workflow.
        findings: Gets the errors.
        assets: The inputs that are bound to assets.
        collected: The outputs whose files go to append-only data sets.
    """
    data = find_data_input(workflow, findings, assets)
    kinds = {port.name: without_null(port.type) for port in workflow.inputs.values()}
    more = frozenset(
        name
        for name, kind in kinds.items()
        if kind in (ARRAY_OF_FILES, ARRAY_OF_DIRECTORIES) and name not in assets and name != data
    )
    files = frozenset(
        name
        for name, kind in kinds.items()
        if kind in ("File", "Directory") or (name in assets and kind == ARRAY_OF_FILES)
    )
    wiring = Wiring(data, files | more, more, assets & files)
    resolver = _Resolver(workflow, findings)
    for step in workflow.steps.values():
        for link in step.links.values():
            found = resolver.origins(link, step.input_named(link.name))
            if found:
                wiring.origins[step.name, link.name], *further = found
                if further:
                    wiring.further[step.name, link.name] = further
    for output in workflow.outputs.values():
        origin = resolver.output(output)
        if origin is not None:
            wiring.outputs[output.name] = origin
    _refuse_cycles(workflow, wiring, findings)
    appended = frozenset(wiring.outputs[name] for name in collected & wiring.outputs.keys())
    _read_streams(workflow, wiring, appended)
    for step in workflow.steps.values():
        if step.has_tool:
            _read_data_links(step, workflow, wiring, findings)
    return wiring


def _read_streams(workflow: Workflow, wiring: Wiring, collected: frozenset[SourcePort]) -> None:
    links = {place: wiring.sources(*place) for place in wiring.origins}
    streams = EntryStreams(workflow, wiring.data_inputs, wiring.asset_inputs, links, collected)
    written = [
        SourcePort(step.name, port) for step in workflow.steps.values() for port in step.outputs
    ]
    for origin in [*(source for found in links.values() for source in found), *written]:
        stream = streams.of(origin)
        if stream is not None:
            wiring.streams[origin] = stream
    for (step, name), found in links.items():
        merged = merged_stream(
            workflow.steps[step].links[name], [wiring.streams.get(origin) for origin in found]
        )
        if merged is not None:
            wiring.read[step, name] = merged


@dataclass(frozen=True, slots=True)
class _Resolver:
    workflow: Workflow
    findings: Findings

    def origins(self, link: Link, subject: str) -> list[SourcePort]:
        """Return the sources of a link, or an empty list if it has none or a wrong one."""
        if link.sources is None:
            return []
        if not link.sources:
            self.findings.error(link.source_place, f"{subject} has no sources")
        found = [self._named(source, link, subject) for source in link.sources]
        return [] if None in found else [origin for origin in found if origin is not None]

    def _named(self, source: str, link: Link, subject: str) -> SourcePort | None:
        step, slash, port = source.rpartition("/")
        if not slash:
            if source in self.workflow.inputs:
                return SourcePort(None, source)
            known = [*self.workflow.inputs, *self._outputs()]
            self.findings.error(
                link.source_place,
                f"{subject}: there is no input {quoted(source)} of the"
                f" workflow{did_you_mean(source, known)}",
            )
        elif step not in self.workflow.steps:
            hint = did_you_mean(step, self.workflow.steps)
            self.findings.error(
                link.source_place, f"{subject}: there is no step {quoted(step)}{hint}"
            )
        elif port not in self.workflow.steps[step].outputs:
            hint = did_you_mean(port, self.workflow.steps[step].outputs)
            self.findings.error(
                link.source_place,
                f"{subject}: step {quoted(step)} has no output {quoted(port)} in its 'out'{hint}",
            )
        else:
            return SourcePort(step, port)
        return None

    def _outputs(self) -> Iterator[str]:
        for step in self.workflow.steps.values():
            yield from (f"{step.name}/{port}" for port in step.outputs)

    def output(self, link: Link) -> SourcePort | None:
        """Return the source of a workflow output, or None after an error."""
        subject = f"output {quoted(link.name)}"
        if link.sources is None:
            self.findings.error(
                link.place, f"{subject} has no 'outputSource': name the step's output that it is"
            )
            return None
        way = SOURCES["output that is an input of the workflow"].note
        for origin in self.origins(link, subject):
            if origin.step is not None:
                return origin
            self.findings.error(
                link.source_place,
                f"{subject} is an input of the workflow; outputs come from steps: {way}",
            )
        return None


def _refuse_cycles(workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """Report one error for each group of steps that wait for each other, at its first step."""
    feeds: dict[str, set[str]] = {name: set() for name in workflow.steps}
    for step, _, origin in wiring.all_sources():
        if origin.step is not None:
            feeds[step].add(origin.step)
    in_cycles: set[str] = set()
    for name in workflow.steps:
        cycle = _cycle_from(name, feeds)
        if cycle and not in_cycles & set(cycle):
            in_cycles.update(cycle)
            findings.error(workflow.steps[name].place, circle(cycle))


def _cycle_from(start: str, feeds: dict[str, set[str]]) -> list[str]:
    """Return the shortest cycle from ``start`` back to it, or an empty list."""
    reader_of: dict[str, str] = {}
    reached = [start]
    for name in reached:
        for before in sorted(feeds[name]):
            if before == start:
                path = [name]
                while path[-1] != start:
                    path.append(reader_of[path[-1]])
                return [start, *path[:-1]]
            if before not in reader_of:
                reader_of[before] = name
                reached.append(before)
    return []


def _read_data_links(step: Step, workflow: Workflow, wiring: Wiring, findings: Findings) -> None:
    """Find the inputs of a step that take data sets, and the mode of the step.

    A step that takes only values and files that are parameters runs once.
    """
    links = [link for link in step.links.values() if wiring.is_data(step.name, link.name)]
    makers = [
        link
        for link in links
        if not all(_is_file(source, wiring) for source in wiring.sources(step.name, link.name))
    ]
    scattered = [step.links[name] for name in step.scatter if name in step.links]
    items = [link for link in scattered if not wiring.is_data(step.name, link.name)]
    readable = [_is_one_data_set(step, link, workflow, wiring, findings=findings) for link in links]
    right = [
        are_items(step, link, workflow, origins=wiring.origins, findings=findings) for link in items
    ]
    if not _scatter_is_right(step, findings) or not all([*readable, *right]):
        return
    modes = {
        link.name: _input_mode(step, link, wiring.stream_of(step.name, link.name)) for link in links
    }
    wiring.item_links[step.name] = items
    each = [link for link in makers if link.name in step.scatter]
    alone = not makers or (items and not each)
    first = None if alone else _first(step, each or makers, modes)
    if first is not None:
        wiring.data_links[step.name] = first
    wiring.side_links[step.name] = [
        SideLink(link, modes[link.name]) for link in links if link is not first
    ]
    is_merge = first is not None and modes[first.name] is InputMode.ALL
    wiring.modes[step.name] = TaskMode.MERGE if is_merge else TaskMode.MAP


def _first(step: Step, links: Sequence[Link], modes: Mapping[str, InputMode]) -> Link:
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
    whole = stream is not None and (stream.many or stream.folder)
    return InputMode.ALL if whole else InputMode.ONE


def _is_file(origin: SourcePort, wiring: Wiring) -> bool:
    """Return whether the source is a single file, directory or asset among the inputs."""
    given = wiring.file_inputs - wiring.further_inputs
    return origin.step is None and origin.port in given


def _scatter_is_right(step: Step, findings: Findings) -> bool:
    for name in step.scatter:
        if name not in step.links:
            findings.error(
                step.place_of("scatter"),
                f"step {quoted(step.name)} scatters over {quoted(name)}, which is not among its"
                f" inputs{did_you_mean(name, step.links)}",
            )
            return False
    method = step.body.get("scatterMethod")
    if len(step.scatter) > 1 and str(method) not in SCATTER_METHODS:
        refused = "" if method is None else f"; there is no {quoted(str(method))}"
        findings.error(
            step.place_of("scatter" if method is None else "scatterMethod"),
            f"step {quoted(step.name)} scatters over several inputs: write 'scatterMethod:"
            " dotproduct', which takes those of the same number together, or 'flat_crossproduct',"
            f" which takes each with each{refused}",
        )
        return False
    return True


def _is_one_data_set(
    step: Step, link: Link, workflow: Workflow, wiring: Wiring, *, findings: Findings
) -> bool:
    """Return whether the sources of a link form one data set, and report why not."""
    origins = wiring.sources(step.name, link.name)
    streams = [wiring.streams.get(origin) for origin in origins]
    nested = next(
        (
            origin.step
            for origin in origins
            if origin.step is not None and workflow.steps[origin.step].depth > 1
        ),
        None,
    )
    if nested is not None:
        way = SOURCES["what a nested_crossproduct gives"].note
        findings.error(
            link.source_place,
            f"{step.input_named(link.name)} takes lists in lists, which step {quoted(nested)} gives"
            f" as a nested_crossproduct, and which no step can read: {way} there",
        )
    elif (
        step.for_output is not None
        and step.scatter
        and any(stream is not None and stream.many for stream in streams)
    ):
        findings.error(
            link.source_place,
            f"{step.input_named(link.name)} joins whole data sets:"
            f" {SOURCES['outputs that join whole data sets'].note}",
        )
    elif check_merge(link, streams, step.input_named(link.name), findings):
        return True
    wiring.refused.add((step.name, link.name))
    return False
