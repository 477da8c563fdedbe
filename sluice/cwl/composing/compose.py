"""Composition of tools into a workflow: which output feeds which input.

The decision depends on type, format and name. The first tool takes the data set, which is named
after the input that takes it. Each further tool takes outputs of the tools before it. An input
takes the output of its name, from the nearest tool first. An input list ``pages`` also takes an
output ``page``. Otherwise an input takes the only output of the nearest tool that fits.

If a list meets a single input, the step scatters over it. If a single value meets a list, it
becomes a list of one. Outputs that no tool takes are outputs of the workflow.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from sluice.cwl.composing.library_tool import LibraryTool, ToolPort
from sluice.cwl.documents.types import array_of
from sluice.text.visible_text import quoted

NO_BINDINGS: Mapping[str, str] = MappingProxyType({})


class LinkMethod(Enum):
    """How an input takes a value."""

    #: The input takes the value as it is.
    DIRECT = auto()
    #: The input takes each item of a list on its own.
    EACH = auto()
    #: The input takes the value as the only item of a list.
    WRAPPED = auto()


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """An output or data set that a tool may take.

    Attributes:
        step: The step that writes it, or None for the data set.
        port: The name of the output or of the data set.
        item: File or Directory.
        depth: The number of lists around the item.
        format: The format, or None if it is not declared.
        optional: Whether there may be no value.
    """

    step: str | None
    port: str
    item: str
    depth: int
    format: str | None = None
    optional: bool = False

    @property
    def source(self) -> str:
        """The text of the source in CWL."""
        return self.port if self.step is None else f"{self.step}/{self.port}"

    @property
    def words(self) -> str:
        """The candidate in words."""
        return "the data set" if self.step is None else f"{quoted(self.port)} of {self.step}"


@dataclass(frozen=True, slots=True)
class ToolLink:
    """A candidate and how an input takes it."""

    candidate: LinkCandidate
    method: LinkMethod


@dataclass(slots=True)
class ComposedStep:
    """A step of the composed workflow.

    Attributes:
        name: The name of the step.
        tool: The tool that it runs.
        links: By input, what it takes from other steps or from the data set.
        parameters: By other input, the name of the workflow's input that gives its value.
    """

    name: str
    tool: LibraryTool
    links: dict[str, ToolLink] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def scatter(self) -> list[str]:
        """The inputs that the step scatters over."""
        return [port for port, link in self.links.items() if link.method is LinkMethod.EACH]

    def candidates(self) -> list[LinkCandidate]:
        """Return the outputs of the step that are files or folders, as other steps see them."""
        added_depth = 1 if self.scatter else 0
        return [
            LinkCandidate(
                self.name,
                port.name,
                port.item,
                port.depth + added_depth,
                port.format,
                port.optional,
            )
            for port in self.tool.outputs.values()
            if port.item is not None
        ]


@dataclass(slots=True)
class ComposedWorkflow:
    """A composed workflow, or the reasons why there is none.

    Attributes:
        data: The data set that the workflow takes.
        steps: The steps in order.
        parameters: The other inputs by name, each with the port that it feeds.
        bind: What ``sluice:bind`` gives to parameters.
        outputs: The outputs of the workflow by name.
        misfits: Why the tools cannot be joined, in one sentence each.
    """

    data: LinkCandidate | None = None
    steps: list[ComposedStep] = field(default_factory=list)
    parameters: dict[str, ToolPort] = field(default_factory=dict)
    bind: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, LinkCandidate] = field(default_factory=dict)
    misfits: list[str] = field(default_factory=list)


def join_tools(
    tools: Sequence[tuple[str, LibraryTool]], *, bind: Mapping[str, str] = NO_BINDINGS
) -> ComposedWorkflow:
    """Compose a workflow of tools.

    Args:
        tools: The tools in order, each with its name in the library.
        bind: More bindings of parameters, in addition to those of the tools.
    """
    workflow = ComposedWorkflow()
    _require_one_version(tools, workflow)
    for name, tool in zip(_step_names([name for name, _ in tools]), tools, strict=True):
        step = ComposedStep(name, tool[1])
        if workflow.data is None and not workflow.steps:
            _take_data(step, workflow)
        _link_inputs(step, workflow)
        workflow.steps.append(step)
    _name_parameters(workflow)
    _add_bindings(bind, workflow)
    _name_outputs(workflow)
    return workflow


def _require_one_version(
    tools: Sequence[tuple[str, LibraryTool]], workflow: ComposedWorkflow
) -> None:
    versions = {tool.version: name for name, tool in tools}
    if len(versions) > 1:
        tool_versions = ", ".join(
            f"{name} is {version or 'none'}" for version, name in versions.items()
        )
        workflow.misfits.append(
            f"tools of different versions of CWL cannot be joined: {tool_versions}"
        )
    namespaces: dict[str, str] = {}
    for name, tool in tools:
        for prefix, address in tool.namespaces.items():
            if namespaces.setdefault(prefix, address) != address:
                workflow.misfits.append(
                    f"tool {name}: its prefix {quoted(prefix)} stands for {address}, and for"
                    f" {namespaces[prefix]} in a tool before it"
                )


def _step_names(names: Sequence[str]) -> list[str]:
    """Return a step name for each tool. Tools that occur again get a number."""
    plain_names = [name.replace(".", "_") for name in names]
    counts: Counter[str] = Counter()
    step_names = []
    for name in plain_names:
        counts[name] += 1
        step_names.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return step_names


def _file_inputs(step: ComposedStep) -> list[ToolPort]:
    """Return the inputs that take files or folders and are not bound to an asset."""
    ports = step.tool.inputs.values()
    return [port for port in ports if port.item is not None and port.name not in step.tool.bind]


def _take_data(step: ComposedStep, workflow: ComposedWorkflow) -> None:
    """Make the data set a list of what the first suitable input of the first tool takes."""
    port = next((port for port in _file_inputs(step) if not port.optional and port.depth < 2), None)
    if port is None:
        workflow.misfits.append(
            f"step {step.name}: it is the first, and none of its inputs takes the data set (a File,"
            " File[] or Directory that it needs and that is bound to no asset)"
        )
        return
    workflow.data = LinkCandidate(None, port.name, str(port.item), 1, port.format)


def _link_inputs(step: ComposedStep, workflow: ComposedWorkflow) -> None:
    ports = _file_inputs(step)
    upstream_candidates = [previous.candidates() for previous in reversed(workflow.steps)]
    groups = [*upstream_candidates, [] if workflow.data is None else [workflow.data]]
    for port in ports:
        link = next(
            (
                ToolLink(candidate, method)
                for group in groups
                for candidate in group
                if candidate.port in _matching_output_names(port)
                and (method := _link_method(candidate, port)) is not None
            ),
            None,
        )
        if link is not None:
            step.links[port.name] = link
    for port in ports:
        if port.name not in step.links and not port.optional and port.default is None:
            # After the first step, an input takes the data set only by name.
            _link_by_type(step, port, upstream_candidates or groups, workflow)
    if workflow.steps and not step.links:
        workflow.misfits.append(
            f"step {step.name}: it takes no output of an earlier step"
            f" ({_describe_candidates(groups)}); its inputs are {_describe_ports(ports)}"
        )


def _matching_output_names(port: ToolPort) -> tuple[str, ...]:
    """Return the names of outputs that match the port by name."""
    return (port.name, port.name.removesuffix("s")) if port.depth else (port.name,)


def _link_by_type(
    step: ComposedStep,
    port: ToolPort,
    groups: Sequence[Sequence[LinkCandidate]],
    workflow: ComposedWorkflow,
) -> None:
    used = {link.candidate.source for link in step.links.values()}
    for group in groups:
        links = [
            ToolLink(candidate, method)
            for candidate in group
            if candidate.source not in used
            and (method := _link_method(candidate, port)) is not None
        ]
        if len(links) > 1:
            names = " or ".join(link.candidate.words for link in links)
            workflow.misfits.append(
                f"step {step.name}: its input {quoted(port.name)} ({_port_words(port)}) could be"
                f" {names}: give the intended output and the input the same name"
            )
            return
        if links:
            step.links[port.name] = links[0]
            return
    if port.depth == 0 and step.links:
        return  # given with each chain
    workflow.misfits.append(
        f"step {step.name}: its input {quoted(port.name)} takes {_port_words(port)}, but no earlier"
        f" step has such an output: there is {_describe_candidates(groups)}; if it is an asset,"
        f" bind it in the tool: 'sluice:bind: {{{port.name}: \"asset:NAME\"}}'"
    )


def _link_method(candidate: LinkCandidate, port: ToolPort) -> LinkMethod | None:
    """Return how the port takes the candidate, or None if it cannot."""
    if candidate.item != port.item:
        return None
    if candidate.format is not None and port.format is not None and candidate.format != port.format:
        return None
    match candidate.depth - port.depth:
        case 0:
            return LinkMethod.DIRECT
        case 1:
            return LinkMethod.EACH
        case -1 if port.depth == 1:
            return LinkMethod.WRAPPED
    return None


def _name_parameters(workflow: ComposedWorkflow) -> None:
    """Name the inputs of the workflow after the ports that no tool feeds.

    The name of the step is added if several ports have the same name.
    """
    unlinked_ports = [
        (step, port)
        for step in workflow.steps
        for port in step.tool.inputs.values()
        if port.name not in step.links
        and not (port.item is not None and port.optional and port.name not in step.tool.bind)
        and not (port.item is not None and port.default is not None)
    ]
    name_counts = Counter(port.name for _, port in unlinked_ports)
    if workflow.data is not None:
        name_counts[workflow.data.port] += 1
    for step, port in unlinked_ports:
        name = port.name if name_counts[port.name] == 1 else f"{step.name}_{port.name}"
        step.parameters[port.name] = name
        workflow.parameters[name] = port
        if port.name in step.tool.bind:
            workflow.bind[name] = step.tool.bind[port.name]


def _add_bindings(bind: Mapping[str, str], workflow: ComposedWorkflow) -> None:
    unknown = [name for name in bind if name not in workflow.parameters]
    if unknown:
        names = ", ".join(quoted(name) for name in unknown)
        known_names = ", ".join(workflow.parameters) or "none"
        workflow.misfits.append(
            f"bind: {names} is not a parameter of the workflow, which has {known_names}"
        )
    workflow.bind |= bind


def _name_outputs(workflow: ComposedWorkflow) -> None:
    """Make the outputs of the last step, and all unused outputs, outputs of the workflow."""
    used_sources = {
        link.candidate.source for step in workflow.steps for link in step.links.values()
    }
    outputs = [
        candidate
        for step in workflow.steps
        for candidate in step.candidates()
        if candidate.source not in used_sources or step is workflow.steps[-1]
    ]
    name_counts = Counter(candidate.port for candidate in outputs)
    for candidate in outputs:
        name = (
            candidate.port
            if name_counts[candidate.port] == 1
            else f"{candidate.step}_{candidate.port}"
        )
        workflow.outputs[name] = candidate
    if workflow.steps and not outputs:
        workflow.misfits.append(f"step {workflow.steps[-1].name}: it has no output file")


def output_type(candidate: LinkCandidate) -> Any:
    """Return the CWL type of a candidate as an output of the workflow."""
    kind: Any = candidate.item
    for _ in range(candidate.depth):
        kind = array_of(kind)
    return ["null", kind] if candidate.optional and candidate.depth == 0 else kind


def _port_words(port: ToolPort) -> str:
    kind = f"{port.item}{'[]' * port.depth}"
    return kind if port.format is None else f"{kind} of format {port.format}"


def _describe_candidates(groups: Sequence[Sequence[LinkCandidate]]) -> str:
    candidates = [candidate for group in groups for candidate in group]
    return (
        ", ".join(
            f"{candidate.words} ({candidate.item}{'[]' * candidate.depth}"
            f"{'' if candidate.format is None else f' of format {candidate.format}'})"
            for candidate in candidates
        )
        or "nothing"
    )


def _describe_ports(ports: Sequence[ToolPort]) -> str:
    return ", ".join(f"{quoted(port.name)} ({_port_words(port)})" for port in ports) or "no files"


def fitting_tools(
    chosen_tools: Sequence[tuple[str, LibraryTool]], library: Mapping[str, LibraryTool]
) -> list[str]:
    """Return the names of the tools that could come next."""
    return [
        name
        for name, tool in library.items()
        if not join_tools([*chosen_tools, (name, tool)]).misfits
    ]
