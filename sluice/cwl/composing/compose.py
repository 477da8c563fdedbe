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

NOTHING_BOUND: Mapping[str, str] = MappingProxyType({})


class LinkMethod(Enum):
    """How an input takes a value."""

    WHOLE = auto()  #: the value as it is
    EACH = auto()  #: each item of a list on its own
    ALONE = auto()  #: the value as the only item of a list


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
        """The offer in words."""
        return "the data set" if self.step is None else f"{quoted(self.port)} of {self.step}"


@dataclass(frozen=True, slots=True)
class ToolLink:
    """An offer and how an input takes it."""

    offer: LinkCandidate
    how: LinkMethod


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
        return [port for port, link in self.links.items() if link.how is LinkMethod.EACH]

    def offers(self) -> list[LinkCandidate]:
        """Return the outputs of the step that are files or folders, as other steps see them."""
        more = 1 if self.scatter else 0
        return [
            LinkCandidate(
                self.name, port.name, port.item, port.depth + more, port.format, port.optional
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
    tools: Sequence[tuple[str, LibraryTool]], *, bind: Mapping[str, str] = NOTHING_BOUND
) -> ComposedWorkflow:
    """Compose a workflow of tools.

    Args:
        tools: The tools in order, each with its name in the library.
        bind: More bindings of parameters, in addition to those of the tools.
    """
    joined = ComposedWorkflow()
    _require_one_version(tools, joined)
    for name, tool in zip(_step_names([name for name, _ in tools]), tools, strict=True):
        step = ComposedStep(name, tool[1])
        if joined.data is None and not joined.steps:
            _take_data(step, joined)
        _link(step, joined)
        joined.steps.append(step)
    _name_parameters(joined)
    _bind(bind, joined)
    _name_outputs(joined)
    return joined


def _require_one_version(
    tools: Sequence[tuple[str, LibraryTool]], joined: ComposedWorkflow
) -> None:
    versions = {tool.version: name for name, tool in tools}
    if len(versions) > 1:
        listed = ", ".join(f"{name} is {version or 'none'}" for version, name in versions.items())
        joined.misfits.append(f"tools of different versions of CWL cannot be joined: {listed}")
    spaces: dict[str, str] = {}
    for name, tool in tools:
        for prefix, address in tool.namespaces.items():
            if spaces.setdefault(prefix, address) != address:
                joined.misfits.append(
                    f"tool {name}: its prefix {quoted(prefix)} stands for {address}, and for"
                    f" {spaces[prefix]} in a tool before it"
                )


def _step_names(names: Sequence[str]) -> list[str]:
    """Return a step name for each tool. Tools that occur again get a number."""
    plain = [name.replace(".", "_") for name in names]
    seen: Counter[str] = Counter()
    found = []
    for name in plain:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return found


def _wanted(step: ComposedStep) -> list[ToolPort]:
    """Return the inputs that take files or folders and are not bound to an asset."""
    ports = step.tool.inputs.values()
    return [port for port in ports if port.item is not None and port.name not in step.tool.bind]


def _take_data(step: ComposedStep, joined: ComposedWorkflow) -> None:
    """Make the data set a list of what the first suitable input of the first tool takes."""
    first = next((port for port in _wanted(step) if not port.optional and port.depth < 2), None)
    if first is None:
        joined.misfits.append(
            f"step {step.name}: it is the first, and none of its inputs takes the data set (a File,"
            " File[] or Directory that it needs and that is bound to no asset)"
        )
        return
    joined.data = LinkCandidate(None, first.name, str(first.item), 1, first.format)


def _link(step: ComposedStep, joined: ComposedWorkflow) -> None:
    wanted = _wanted(step)
    before = [previous.offers() for previous in reversed(joined.steps)]
    groups = [*before, [] if joined.data is None else [joined.data]]
    for port in wanted:
        found = next(
            (
                ToolLink(offer, how)
                for group in groups
                for offer in group
                if offer.port in _names(port) and (how := _how(offer, port)) is not None
            ),
            None,
        )
        if found is not None:
            step.links[port.name] = found
    for port in wanted:
        if port.name not in step.links and not port.optional and port.default is None:
            # After the first step, an input takes the data set only by name.
            _link_by_type(step, port, before or groups, joined)
    if joined.steps and not step.links:
        joined.misfits.append(
            f"step {step.name}: it takes nothing of what comes before it ({_listed(groups)}); its"
            f" inputs are {_ports_listed(wanted)}"
        )


def _names(port: ToolPort) -> tuple[str, ...]:
    """Return the names of outputs that match the port by name."""
    return (port.name, port.name.removesuffix("s")) if port.depth else (port.name,)


def _link_by_type(
    step: ComposedStep,
    port: ToolPort,
    groups: Sequence[Sequence[LinkCandidate]],
    joined: ComposedWorkflow,
) -> None:
    used = {link.offer.source for link in step.links.values()}
    for group in groups:
        fitting = [
            ToolLink(offer, how)
            for offer in group
            if offer.source not in used and (how := _how(offer, port)) is not None
        ]
        if len(fitting) > 1:
            names = " or ".join(link.offer.words for link in fitting)
            joined.misfits.append(
                f"step {step.name}: its input {quoted(port.name)} ({_words(port)}) could be"
                f" {names}: give the one that is meant and the input the same name"
            )
            return
        if fitting:
            step.links[port.name] = fitting[0]
            return
    if port.depth == 0 and step.links:
        return  # given with each chain
    joined.misfits.append(
        f"step {step.name}: its input {quoted(port.name)} takes {_words(port)}, and nothing before"
        f" it gives one: there is {_listed(groups)}; where it is an asset, the tool says so:"
        f" 'sluice:bind: {{{port.name}: \"asset:NAME\"}}'"
    )


def _how(offer: LinkCandidate, port: ToolPort) -> LinkMethod | None:
    """Return how the port takes the offer, or None if it cannot."""
    if offer.item != port.item:
        return None
    if offer.format is not None and port.format is not None and offer.format != port.format:
        return None
    match offer.depth - port.depth:
        case 0:
            return LinkMethod.WHOLE
        case 1:
            return LinkMethod.EACH
        case -1 if port.depth == 1:
            return LinkMethod.ALONE
    return None


def _name_parameters(joined: ComposedWorkflow) -> None:
    """Name the inputs of the workflow after the ports that no tool feeds.

    The name of the step is added if several ports have the same name.
    """
    left = [
        (step, port)
        for step in joined.steps
        for port in step.tool.inputs.values()
        if port.name not in step.links
        and not (port.item is not None and port.optional and port.name not in step.tool.bind)
        and not (port.item is not None and port.default is not None)
    ]
    taken = Counter(port.name for _, port in left)
    if joined.data is not None:
        taken[joined.data.port] += 1
    for step, port in left:
        name = port.name if taken[port.name] == 1 else f"{step.name}_{port.name}"
        step.parameters[port.name] = name
        joined.parameters[name] = port
        if port.name in step.tool.bind:
            joined.bind[name] = step.tool.bind[port.name]


def _bind(bind: Mapping[str, str], joined: ComposedWorkflow) -> None:
    unknown = [name for name in bind if name not in joined.parameters]
    if unknown:
        names = ", ".join(quoted(name) for name in unknown)
        known = ", ".join(joined.parameters) or "none"
        joined.misfits.append(f"bind: {names} is no parameter of the workflow, which has {known}")
    joined.bind |= bind


def _name_outputs(joined: ComposedWorkflow) -> None:
    """Make the outputs of the last step, and all unused outputs, outputs of the workflow."""
    used = {link.offer.source for step in joined.steps for link in step.links.values()}
    left = [
        offer
        for step in joined.steps
        for offer in step.offers()
        if offer.source not in used or step is joined.steps[-1]
    ]
    taken = Counter(offer.port for offer in left)
    for offer in left:
        name = offer.port if taken[offer.port] == 1 else f"{offer.step}_{offer.port}"
        joined.outputs[name] = offer
    if joined.steps and not left:
        joined.misfits.append(f"step {joined.steps[-1].name}: it gives no file")


def type_of(offer: LinkCandidate) -> Any:
    """Return the CWL type of an offer as an output of the workflow."""
    kind: Any = offer.item
    for _ in range(offer.depth):
        kind = array_of(kind)
    return ["null", kind] if offer.optional and offer.depth == 0 else kind


def _words(port: ToolPort) -> str:
    kind = f"{port.item}{'[]' * port.depth}"
    return kind if port.format is None else f"{kind} of format {port.format}"


def _listed(groups: Sequence[Sequence[LinkCandidate]]) -> str:
    offers = [offer for group in groups for offer in group]
    return (
        ", ".join(
            f"{offer.words} ({offer.item}{'[]' * offer.depth}"
            f"{'' if offer.format is None else f' of format {offer.format}'})"
            for offer in offers
        )
        or "nothing"
    )


def _ports_listed(ports: Sequence[ToolPort]) -> str:
    return ", ".join(f"{quoted(port.name)} ({_words(port)})" for port in ports) or "no files"


def fitting(
    before: Sequence[tuple[str, LibraryTool]], library: Mapping[str, LibraryTool]
) -> list[str]:
    """Return the names of the tools that could come next."""
    return [
        name for name, tool in library.items() if not join_tools([*before, (name, tool)]).misfits
    ]
