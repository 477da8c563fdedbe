"""The workflow as the checks see it: inputs, steps and outputs with their places.

The same objects result from all ways to write a workflow.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.canonical import CanonicalWorkflow
from sluice.cwl.documents.type_definitions import expand_types
from sluice.cwl.documents.types import normal_type
from sluice.cwl.features import CROSSPRODUCTS, NESTED, PROCESSES, inside_jobs
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import NamedNode, as_list, named_nodes, put_at, refuse_duplicates
from sluice.text.visible_text import quoted

#: Names become parts of the names of data sets, and of paths.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}\Z")
#: Inputs name no data sets.
_INPUT_NAME = re.compile(r"[^/#\x00-\x1f\x7f]{1,80}\Z")


@dataclass(frozen=True, slots=True)
class SourcePort:
    """The source of a link: an output of ``step``, or (None) an input of the workflow."""

    step: str | None
    port: str


#: A step and one of its inputs, by name.
StepInputName = tuple[str, str]


@dataclass(slots=True)
class Port:
    """An input or output of the workflow or a tool. ``type`` is in the long form (see `types`)."""

    name: str
    place: TextPlace
    type: Any
    body: CommentedMap

    def field_place(self, key: str) -> TextPlace:
        """Return the place of a field, or of the port without the field."""
        return text_place(self.body, key) if key in self.body else self.place


@dataclass(slots=True)
class Link:
    """An input of a step, or an output of the workflow.

    ``sources`` are as written, without ``#``. None means that no source is given.
    """

    name: str
    place: TextPlace
    sources: list[str] | None
    source_place: TextPlace
    body: CommentedMap


@dataclass(slots=True)
class Step:
    """A step with its tool."""

    name: str
    place: TextPlace
    body: CommentedMap
    links: dict[str, Link]
    outputs: dict[str, TextPlace]
    scatter: list[str]
    tool: CommentedMap
    tool_inputs: dict[str, Port]
    tool_outputs: dict[str, Port]
    #: False if the tool is a placeholder, whose ports say nothing.
    has_tool: bool = True
    #: The workflow output that the step was added for, or None for a step of the template.
    for_output: str | None = None
    #: Inputs whose values each job joins, with the links that bring the values.
    joined_links: dict[str, list[str]] = field(default_factory=dict)

    def describe_input(self, link: str) -> str:
        """Return one of the step's inputs in words that the template's author knows."""
        return (
            f"input {quoted(link)} of step {quoted(self.name)}"
            if self.for_output is None
            else f"output {quoted(self.for_output)}"
        )

    def field_place(self, key: str) -> TextPlace:
        """Return the place of a field, or of the step without the field."""
        return text_place(self.body, key) if key in self.body else self.place

    def input_type(self, name: str) -> Any:
        """Return the type of an input of the step.

        An input that the tool does not have is only for the step's expressions, and may be
        anything.
        """
        return self.tool_inputs[name].type if name in self.tool_inputs else ["null", "Any"]

    @property
    def is_crossproduct(self) -> bool:
        """Whether the step takes all combinations of what it scatters over."""
        return len(self.scatter) > 1 and self.body.get("scatterMethod") in CROSSPRODUCTS

    @property
    def depth(self) -> int:
        """The number of nested lists that each output is."""
        if self.is_crossproduct and self.body["scatterMethod"] == NESTED:
            return len(self.scatter)
        return 1 if self.scatter else 0

    @property
    def conditional(self) -> bool:
        """Whether the step may be skipped, and then gives nothing."""
        return "when" in self.body

    @property
    def runs_as_workflow(self) -> bool:
        """Whether each job is a separate workflow.

        Then the step has expressions, which only pilots evaluate, or runs no single tool.
        """
        return (
            self.conditional
            or bool(self.joined_links)
            or self.tool.get("class") in inside_jobs(PROCESSES)
            or any(
                "valueFrom" in link.body or link.body.get("loadContents")
                for link in self.links.values()
            )
        )


@dataclass(slots=True)
class Workflow:
    """A workflow with its ports, links and steps."""

    body: CommentedMap
    inputs: dict[str, Port]
    outputs: dict[str, Link]
    steps: dict[str, Step] = field(default_factory=dict)
    #: The declared types of the outputs.
    output_types: dict[str, Any] = field(default_factory=dict)


def read_workflow(canonical: CanonicalWorkflow, findings: Findings) -> Workflow:
    """Read a workflow, and report duplicate or unusable names.

    Malformed parts are left out, because the schema check reports them.
    """
    body = canonical.body
    outputs = _read_entries(body.get("outputs"), "outputs", findings)
    workflow = Workflow(
        body,
        inputs=_ports(
            _read_entries(body.get("inputs"), "inputs", findings, names=_INPUT_NAME), canonical
        ),
        outputs={entry.name: _link(entry, "outputSource") for entry in outputs},
        output_types={entry.name: _type(entry, canonical) for entry in outputs},
    )
    for entry in _read_entries(body.get("steps"), "steps", findings):
        if entry.body is not None:
            workflow.steps[entry.name] = _step(entry, entry.body, canonical, findings)
            _load_contents_of_inputs(workflow, workflow.steps[entry.name])
    if not workflow.steps:
        findings.error(text_place(body, "steps"), "the workflow has no steps")
    return workflow


def _load_contents_of_inputs(workflow: Workflow, step: Step) -> None:
    """Let a step load the contents of files for which an input of the workflow says so."""
    for link in step.links.values():
        for name in link.sources or ():
            if name in workflow.inputs and workflow.inputs[name].body.get("loadContents"):
                put_at(link.body, "loadContents", True, link.place)


def _read_entries(
    node: Any, kinds: str, findings: Findings, *, names: re.Pattern[str] | None = _NAME
) -> list[NamedNode]:
    """Return the entries of a collection, and report duplicate or unusable names.

    Args:
        node: The collection.
        kinds: What the entries are, in the plural.
        findings: Gets the errors.
        names: The names that can be used. None means any.
    """
    entries = named_nodes(node)
    refuse_duplicates(entries, kinds, findings)
    for entry in entries:
        if names is not None and not names.match(entry.name):
            letters = "letters, digits, '_', '.' and '-'" if names is _NAME else "no '/' and no '#'"
            findings.error(
                entry.place,
                f"the name {quoted(entry.name)} cannot be used: {letters}, at most 80 characters",
            )
    return list({entry.name: entry for entry in reversed(entries)}.values())[::-1]


def _step(
    entry: NamedNode, body: CommentedMap, canonical: CanonicalWorkflow, findings: Findings
) -> Step:
    links = _read_entries(
        body.get("in"), f"inputs of step {quoted(entry.name)}", findings, names=_INPUT_NAME
    )
    outputs = _read_entries(body.get("out"), f"outputs of step {quoted(entry.name)}", findings)
    tool = body["run"]
    step = Step(
        name=entry.name,
        place=entry.place,
        body=body,
        links={link.name: _link(link, "source") for link in links},
        outputs={output.name: output.place for output in outputs},
        scatter=[name for name in as_list(body.get("scatter")) if isinstance(name, str)],
        tool=tool,
        tool_inputs=_ports(
            _read_entries(
                tool.get("inputs"),
                f"inputs of the tool of step {quoted(entry.name)}",
                findings,
                names=None,
            ),
            canonical,
        ),
        tool_outputs=_ports(
            _read_entries(
                tool.get("outputs"), f"outputs of the tool of step {quoted(entry.name)}", findings
            ),
            canonical,
        ),
        has_tool=entry.name not in canonical.steps_without_tool,
    )
    if step.has_tool and not step.runs_as_workflow and not isinstance(tool.get("inputs"), str):
        _leave_out_unknown_inputs(step, findings)
    return step


def _leave_out_unknown_inputs(step: Step, findings: Findings) -> None:
    """Warn of the inputs that the tool of a step does not have, and leave them out as cwltool does.

    A step whose expressions may use them keeps them.
    """
    for name in step.links.keys() - step.tool_inputs.keys() - set(step.scatter):
        hint = suggest_or_list(name, step.tool_inputs)
        findings.warning(
            step.links.pop(name).place,
            f"the tool of step {quoted(step.name)} has no input {quoted(name)}, so that it is left"
            f" out{hint}",
        )


def _ports(entries: Iterable[NamedNode], canonical: CanonicalWorkflow) -> dict[str, Port]:
    return {
        entry.name: Port(entry.name, entry.place, _type(entry, canonical), _body(entry))
        for entry in entries
    }


def _type(entry: NamedNode, canonical: CanonicalWorkflow) -> Any:
    return normal_type(
        expand_types(
            entry.value if entry.body is None else declared_type(entry.body), canonical.types
        )
    )


def declared_type(body: CommentedMap) -> Any:
    """Return the declared type of a port.

    It is the body itself in the short form ``port: {type: array, items: File}``.
    """
    return body if body.get("type") in ("array", "record", "enum") else body.get("type")


def _link(entry: NamedNode, key: str) -> Link:
    body = _body(entry)
    declaration = entry.value if entry.body is None and key == "source" else body.get(key)
    sources = (
        None
        if declaration is None
        else [source for source in as_list(declaration) if isinstance(source, str)]
    )
    return Link(
        entry.name,
        entry.place,
        sources,
        text_place(body, key) if key in body else entry.place,
        body,
    )


def _body(entry: NamedNode) -> CommentedMap:
    return CommentedMap() if entry.body is None else entry.body
