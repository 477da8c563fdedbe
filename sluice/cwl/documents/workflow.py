"""The workflow as the checks see it: inputs, steps and outputs with their places, whichever way
they were written."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl.documents.canonical import CanonicalWorkflow
from sluice.cwl.documents.type_definitions import written_out
from sluice.cwl.documents.types import normal_type
from sluice.cwl.features import CROSSPRODUCTS, NESTED, PROCESSES, inside_jobs
from sluice.cwl.reading.findings import Findings, TextPlace, text_place
from sluice.cwl.reading.nodes import NamedNode, listed, named_nodes, refuse_duplicates
from sluice.visible_text import quoted

#: Names become parts of names of data sets, and of paths.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}\Z")


@dataclass(frozen=True, slots=True)
class SourcePort:
    """Where a link comes from: an output of ``step``, or (None) an input of the workflow."""

    step: str | None
    port: str


#: A step and one of its inputs, by their names.
InputOfStep = tuple[str, str]


@dataclass(slots=True)
class Port:
    """An input or output of the workflow or of a tool. ``type`` written out (see `types`)."""

    name: str
    place: TextPlace
    type: Any
    body: CommentedMap

    def place_of(self, key: str) -> TextPlace:
        return text_place(self.body, key) if key in self.body else self.place


@dataclass(slots=True)
class Link:
    """An input of a step, or an output of the workflow. ``sources``: as written, without ``#``;
    None where none is given."""

    name: str
    place: TextPlace
    sources: list[str] | None
    source_place: TextPlace
    body: CommentedMap


@dataclass(slots=True)
class Step:
    name: str
    place: TextPlace
    body: CommentedMap
    links: dict[str, Link]
    outputs: dict[str, TextPlace]
    scatter: list[str]
    tool: CommentedMap
    tool_inputs: dict[str, Port]
    tool_outputs: dict[str, Port]
    #: False where the tool is a stand-in: nothing can be said of its ports.
    has_tool: bool = True
    #: The output of the workflow that the step is there for; None where it is written in the
    #: template.
    for_output: str | None = None

    def input_named(self, link: str) -> str:
        """One of the step's inputs in words, as the template's author knows it."""
        return (
            f"input '{link}' of step '{self.name}'"
            if self.for_output is None
            else f"output '{self.for_output}'"
        )

    def place_of(self, key: str) -> TextPlace:
        return text_place(self.body, key) if key in self.body else self.place

    def input_type(self, name: str) -> Any:
        """Of an input of the step; one that the tool does not have is read by the step's
        expressions alone, whatever it is."""
        return self.tool_inputs[name].type if name in self.tool_inputs else ["null", "Any"]

    @property
    def crosses(self) -> bool:
        """Does it take each with each of what it scatters over?"""
        return len(self.scatter) > 1 and self.body.get("scatterMethod") in CROSSPRODUCTS

    @property
    def depth(self) -> int:
        """Of the lists that its outputs are, one within the other."""
        if self.crosses and self.body["scatterMethod"] == NESTED:
            return len(self.scatter)
        return 1 if self.scatter else 0

    @property
    def conditional(self) -> bool:
        """It may be passed over, and then gives nothing."""
        return "when" in self.body

    @property
    def contained(self) -> bool:
        """Each job is a workflow of its own: the step has expressions, which pilots alone work out,
        or runs no single tool."""
        return (
            self.conditional
            or self.tool.get("class") in inside_jobs(PROCESSES)
            or any("valueFrom" in link.body for link in self.links.values())
        )


@dataclass(slots=True)
class Workflow:
    body: CommentedMap
    inputs: dict[str, Port]
    outputs: dict[str, Link]
    steps: dict[str, Step] = field(default_factory=dict)
    #: Types that the outputs are said to have.
    output_types: dict[str, Any] = field(default_factory=dict)


def read_workflow(canonical: CanonicalWorkflow, findings: Findings) -> Workflow:
    """Malformed parts are left out (the schema's check tells of them); names that stand twice or
    cannot be used are told here."""
    body = canonical.body
    outputs = _named(body.get("outputs"), "outputs", findings)
    workflow = Workflow(
        body,
        inputs=_ports(_named(body.get("inputs"), "inputs", findings), canonical),
        outputs={entry.name: _link(entry, "outputSource") for entry in outputs},
        output_types={entry.name: _type(entry, canonical) for entry in outputs},
    )
    for entry in _named(body.get("steps"), "steps", findings):
        if entry.body is not None:
            workflow.steps[entry.name] = _step(entry, entry.body, canonical, findings)
    if not workflow.steps:
        findings.error(text_place(body, "steps"), "the workflow has no steps")
    return workflow


def _named(node: Any, kinds: str, findings: Findings) -> list[NamedNode]:
    found = named_nodes(node)
    refuse_duplicates(found, kinds, findings)
    for entry in found:
        if not _NAME.match(entry.name):
            findings.error(
                entry.place,
                f"the name {quoted(entry.name)} cannot be used: letters, digits, '_', '.' and '-',"
                " at most 80",
            )
    return list({entry.name: entry for entry in reversed(found)}.values())[::-1]


def _step(
    entry: NamedNode, body: CommentedMap, canonical: CanonicalWorkflow, findings: Findings
) -> Step:
    links = _named(body.get("in"), f"inputs of step '{entry.name}'", findings)
    outputs = _named(body.get("out"), f"outputs of step '{entry.name}'", findings)
    tool = body["run"]
    return Step(
        name=entry.name,
        place=entry.place,
        body=body,
        links={link.name: _link(link, "source") for link in links},
        outputs={output.name: output.place for output in outputs},
        scatter=[name for name in listed(body.get("scatter")) if isinstance(name, str)],
        tool=tool,
        tool_inputs=_ports(
            _named(tool.get("inputs"), f"inputs of the tool of step '{entry.name}'", findings),
            canonical,
        ),
        tool_outputs=_ports(
            _named(tool.get("outputs"), f"outputs of the tool of step '{entry.name}'", findings),
            canonical,
        ),
        has_tool=entry.name not in canonical.toolless,
    )


def _ports(found: Iterable[NamedNode], canonical: CanonicalWorkflow) -> dict[str, Port]:
    return {
        entry.name: Port(entry.name, entry.place, _type(entry, canonical), _body(entry))
        for entry in found
    }


def _type(entry: NamedNode, canonical: CanonicalWorkflow) -> Any:
    return normal_type(
        written_out(entry.value if entry.body is None else _declared(entry.body), canonical.types)
    )


def _declared(body: CommentedMap) -> Any:
    """The type of a port: its ``type``, or the body itself where the short form ``port: {type:
    array, items: File}`` was used."""
    return body if body.get("type") in ("array", "record", "enum") else body.get("type")


def _link(entry: NamedNode, key: str) -> Link:
    body = _body(entry)
    written = entry.value if entry.body is None and key == "source" else body.get(key)
    sources = (
        None
        if written is None
        else [source for source in listed(written) if isinstance(source, str)]
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
