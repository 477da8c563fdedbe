"""Reading of the extension fields of a document, and errors for wrong ones."""

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.documents.canonical import MAX_NESTED_WORKFLOWS
from sluice.cwl.documents.document import Document
from sluice.cwl.features import NAMESPACE, PLANNED_FIELDS
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.field_value import FieldValue
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import named_nodes
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted

#: The number of steps of nested workflows above which fields are not read.
_MAX_NESTED = 2000

PREFIX = "sluice"


@dataclass(slots=True)
class Fields:
    """The valid fields of a workflow, step, tool or output, with their places."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, TextPlace] = field(default_factory=dict)
    #: Places of the keys inside a field (``("bind", "run")``), and of keys inside these
    #: (``("require", "parameters.cut")``).
    inner: dict[tuple[str, str], TextPlace] = field(default_factory=dict)

    def add(self, other_fields: "Fields") -> None:
        """Add the fields of others that are missing here."""
        for name in other_fields.places.keys() - self.places.keys():
            self.places[name] = other_fields.places[name]
            self.inner |= {
                key: place for key, place in other_fields.inner.items() if key[0] == name
            }
            if name in other_fields.values:
                self.values[name] = other_fields.values[name]


@dataclass(slots=True)
class Extensions:
    """The extension fields of a document."""

    workflow: Fields = field(default_factory=Fields)
    steps: dict[str, Fields] = field(default_factory=dict)
    #: Fields of the steps of nested workflows, by their joined names (``outer.inner``).
    nested: dict[str, Fields] = field(default_factory=dict)
    #: Fields of the workflow's outputs.
    outputs: dict[str, Fields] = field(default_factory=dict)


def refuse_nested(extensions: Extensions, findings: Findings) -> None:
    """Report fields on steps of workflows that run inside one job."""
    for fields in extensions.nested.values():
        for name, place in fields.places.items():
            findings.error(
                place,
                f"'{PREFIX}:{name}' belongs to {FIELDS[name].owner}, not here: this one runs inside"
                " a job",
            )


def read_extensions(document: Document, findings: Findings) -> Extensions:
    """Read all extension fields, and report those that are unknown, misplaced or wrong."""
    return _ExtensionReader(document, findings).read()


@dataclass(frozen=True, slots=True)
class _FieldOwner:
    """The owner of fields, which collects them.

    ``kind`` is ``workflow``, ``step``, ``tool``, ``output``, or empty for nodes without fields.
    """

    kind: str = ""
    fields: Fields = field(default_factory=Fields)


class _ExtensionReader:
    def __init__(self, document: Document, findings: Findings) -> None:
        self.document = document
        self.findings = findings
        declared = [
            prefix for prefix, address in document.namespaces.items() if address == NAMESPACE
        ]
        self.prefixes = {f"{prefix}:" for prefix in declared}
        is_redefined = PREFIX in document.namespaces and PREFIX not in declared
        #: Pairs of the fields of a step and of its tool.
        self.tools: list[tuple[Fields, Fields]] = []
        self.key_prefixes = (NAMESPACE, *self.prefixes, *(() if is_redefined else (f"{PREFIX}:",)))
        self.undeclared = False
        if is_redefined:
            findings.error(
                text_place(document.root, "$namespaces"),
                f"the prefix '{PREFIX}' stands for '{NAMESPACE}' and nothing else",
            )

    def read(self) -> Extensions:
        """Return the fields of the document."""
        extensions = Extensions()
        workflow = self.document.workflow
        owners = {id(workflow): _FieldOwner("workflow", extensions.workflow)}
        for step in named_nodes(workflow.get("steps")):
            if step.body is not None:
                fields = extensions.steps.setdefault(step.name, Fields())
                owners[id(step.body)] = _FieldOwner("step", fields)
                self._find_tool(step.body, fields, owners)
        for output in named_nodes(workflow.get("outputs")):
            if output.body is not None:
                fields = extensions.outputs.setdefault(output.name, Fields())
                owners[id(output.body)] = _FieldOwner("output", fields)
        self._find_nested_steps(workflow, (), owners, extensions)
        self._read_nodes(self.document.root, owners)
        for fields, tool_fields in self.tools:
            fields.add(tool_fields)
        return extensions

    def _find_tool(
        self, step: CommentedMap, fields: Fields, owners: dict[int, _FieldOwner]
    ) -> None:
        run = self._find_process(step)
        if isinstance(run, CommentedMap) and run.get("class") == "CommandLineTool":
            self.tools.append((fields, owners.setdefault(id(run), _FieldOwner("tool")).fields))

    def _find_process(self, step: CommentedMap) -> Any:
        run = step.get("run")
        return self.document.graph.get(local_name(run)) if isinstance(run, str) else run

    def _find_nested_steps(
        self,
        workflow: CommentedMap,
        outer_steps: tuple[str, ...],
        owners: dict[int, _FieldOwner],
        extensions: Extensions,
    ) -> None:
        """Find the steps of nested workflows.

        A workflow that several steps run is one text, so their fields are shared.

        Args:
            workflow: The workflow that runs them.
            outer_steps: Names of the steps that run ``workflow``, the outermost first.
            owners: Gets the owners of fields, by the identity of their nodes.
            extensions: Gets the fields.
        """
        for step in named_nodes(workflow.get("steps")):
            run = None if step.body is None else self._find_process(step.body)
            if (
                not isinstance(run, CommentedMap)
                or run.get("class") != "Workflow"
                or len(outer_steps) > MAX_NESTED_WORKFLOWS
            ):
                continue
            if len(extensions.nested) > _MAX_NESTED:
                return
            step_path = (*outer_steps, step.name)
            for inner in named_nodes(run.get("steps")):
                if inner.body is not None:
                    owner = owners.setdefault(id(inner.body), _FieldOwner("step"))
                    extensions.nested[".".join((*step_path, inner.name))] = owner.fields
                    self._find_tool(inner.body, owner.fields, owners)
            self._find_nested_steps(run, step_path, owners, extensions)

    def _read_nodes(self, node: Any, owners: dict[int, _FieldOwner]) -> None:
        if isinstance(node, CommentedMap):
            owner = owners.get(id(node), _FieldOwner())
            for key, value in node.items():
                name = self.remove_prefix(key)
                if name is None:
                    self._read_nodes(value, owners)
                else:
                    self._read_field(node, key, name, owner)
        elif isinstance(node, CommentedSeq):
            for item in node:
                self._read_nodes(item, owners)

    def remove_prefix(self, key: str) -> str | None:
        """Return ``boundary`` for ``sluice:boundary``, and None for keys that are not ours."""
        for start in self.key_prefixes:
            if key.startswith(start):
                return key[len(start) :]
        return None

    def _read_field(self, node: CommentedMap, key: str, name: str, owner: _FieldOwner) -> None:
        place, fields = text_place(node, key), owner.fields
        if (
            key.startswith(f"{PREFIX}:")
            and f"{PREFIX}:" not in self.prefixes
            and not self.undeclared
        ):
            self.undeclared = True
            self.findings.error(
                place,
                f"the prefix '{PREFIX}' is not declared: add '$namespaces: {{{PREFIX}:"
                f' "{NAMESPACE}"}}\' to the document',
            )
        if name in PLANNED_FIELDS:
            self.findings.error(
                place, f"{quoted(key)} is not supported yet: {PLANNED_FIELDS[name].note}"
            )
        elif name not in FIELDS:
            self.findings.error(
                place,
                "there is no extension field"
                f" {quoted(key)}{suggest_or_list(key, [f'{PREFIX}:{other}' for other in FIELDS])}",
            )
        elif not FIELDS[name].is_allowed_on(owner.kind):
            self.findings.error(place, f"{quoted(key)} belongs to {FIELDS[name].owner}, not here")
        elif name in fields.values:
            self.findings.error(place, f"{quoted(key)} is a duplicate")
        else:
            example = FIELDS[name].example
            value = FieldValue(node, key, name, self.findings, self.remove_prefix, example)
            parsed = FIELDS[name].read(value)
            fields.places[name] = place
            fields.inner.update(
                {(name, inner): inner_place for inner, inner_place in value.inner_places().items()}
            )
            if parsed is not None:
                fields.values[name] = parsed
