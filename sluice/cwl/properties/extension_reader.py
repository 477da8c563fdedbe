"""Reading of the extension fields of a document, and errors for wrong ones."""

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.documents.canonical import MAX_NESTED_WORKFLOWS
from sluice.cwl.documents.document import Document
from sluice.cwl.features import LATER
from sluice.cwl.properties.extension_fields import FIELDS
from sluice.cwl.properties.field_value import FieldValue
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import local_name, named_nodes
from sluice.text.visible_text import quoted

#: The number of steps of nested workflows from which on fields are not read.
_MAX_NESTED = 2000

NAMESPACE = "urn:sluice:cwl:"
PREFIX = "sluice"


@dataclass(slots=True)
class Fields:
    """The valid fields of a workflow, step, tool or output, with their places."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, TextPlace] = field(default_factory=dict)
    #: Places of the keys inside a field (``("bind", "run")``), and of keys inside these
    #: (``("require", "parameters.cut")``).
    inner: dict[tuple[str, str], TextPlace] = field(default_factory=dict)

    def add(self, others: "Fields") -> None:
        """Add the fields of others that are missing here."""
        for name in others.places.keys() - self.places.keys():
            self.places[name] = others.places[name]
            self.inner |= {key: place for key, place in others.inner.items() if key[0] == name}
            if name in others.values:
                self.values[name] = others.values[name]


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
    return _Reader(document, findings).read()


@dataclass(frozen=True, slots=True)
class _FieldOwner:
    """The owner of fields, which collects them.

    ``kind`` is ``workflow``, ``step``, ``tool``, ``output``, or empty for nodes without fields.
    """

    kind: str = ""
    fields: Fields = field(default_factory=Fields)


class _Reader:
    def __init__(self, document: Document, findings: Findings) -> None:
        self.document = document
        self.findings = findings
        declared = [
            prefix for prefix, address in document.namespaces.items() if address == NAMESPACE
        ]
        self.prefixes = {f"{prefix}:" for prefix in declared}
        taken = PREFIX in document.namespaces and PREFIX not in declared
        #: Pairs of the fields of a step and of its tool.
        self.tools: list[tuple[Fields, Fields]] = []
        self.starts = (NAMESPACE, *self.prefixes, *(() if taken else (f"{PREFIX}:",)))
        self.undeclared = False
        if taken:
            findings.error(
                text_place(document.root, "$namespaces"),
                f"the prefix '{PREFIX}' stands for '{NAMESPACE}' and nothing else",
            )

    def read(self) -> Extensions:
        """Return the fields of the document."""
        found = Extensions()
        written = self.document.written
        homes = {id(written): _FieldOwner("workflow", found.workflow)}
        for step in named_nodes(written.get("steps")):
            if step.body is not None:
                fields = found.steps.setdefault(step.name, Fields())
                homes[id(step.body)] = _FieldOwner("step", fields)
                self._find_tool(step.body, fields, homes)
        for output in named_nodes(written.get("outputs")):
            if output.body is not None:
                fields = found.outputs.setdefault(output.name, Fields())
                homes[id(output.body)] = _FieldOwner("output", fields)
        self._find_nested(written, (), homes, found)
        self._walk(self.document.root, homes)
        for fields, of_tool in self.tools:
            fields.add(of_tool)
        return found

    def _find_tool(self, step: CommentedMap, fields: Fields, homes: dict[int, _FieldOwner]) -> None:
        run = self._run_of(step)
        if isinstance(run, CommentedMap) and run.get("class") == "CommandLineTool":
            self.tools.append((fields, homes.setdefault(id(run), _FieldOwner("tool")).fields))

    def _run_of(self, step: CommentedMap) -> Any:
        run = step.get("run")
        return self.document.graph.get(local_name(run)) if isinstance(run, str) else run

    def _find_nested(
        self,
        workflow: CommentedMap,
        around: tuple[str, ...],
        homes: dict[int, _FieldOwner],
        found: Extensions,
    ) -> None:
        """Find the steps of nested workflows.

        A workflow that several steps run is one text, so their fields are shared.

        Args:
            workflow: The workflow that runs them.
            around: Names of the steps that run ``workflow``, the outermost first.
            homes: Gets the owners of fields, by the identity of their nodes.
            found: Gets the fields.
        """
        for step in named_nodes(workflow.get("steps")):
            run = None if step.body is None else self._run_of(step.body)
            if (
                not isinstance(run, CommentedMap)
                or run.get("class") != "Workflow"
                or len(around) > MAX_NESTED_WORKFLOWS
            ):
                continue
            if len(found.nested) > _MAX_NESTED:
                return
            inside = (*around, step.name)
            for inner in named_nodes(run.get("steps")):
                if inner.body is not None:
                    home = homes.setdefault(id(inner.body), _FieldOwner("step"))
                    found.nested[".".join((*inside, inner.name))] = home.fields
                    self._find_tool(inner.body, home.fields, homes)
            self._find_nested(run, inside, homes, found)

    def _walk(self, node: Any, homes: dict[int, _FieldOwner]) -> None:
        if isinstance(node, CommentedMap):
            home = homes.get(id(node), _FieldOwner())
            for key, value in node.items():
                name = self.own_name(key)
                if name is None:
                    self._walk(value, homes)
                else:
                    self._field(node, key, name, home)
        elif isinstance(node, CommentedSeq):
            for item in node:
                self._walk(item, homes)

    def own_name(self, key: str) -> str | None:
        """Return ``boundary`` for ``sluice:boundary``, and None for keys that are not ours."""
        for start in self.starts:
            if key.startswith(start):
                return key[len(start) :]
        return None

    def _field(self, node: CommentedMap, key: str, name: str, home: _FieldOwner) -> None:
        place, fields = text_place(node, key), home.fields
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
        if name in LATER:
            self.findings.error(place, f"{quoted(key)} is not supported yet: {LATER[name].note}")
        elif name not in FIELDS:
            self.findings.error(
                place,
                "there is no extension field"
                f" {quoted(key)}{did_you_mean(key, [f'{PREFIX}:{known}' for known in FIELDS])}",
            )
        elif not FIELDS[name].may_stand_on(home.kind):
            self.findings.error(place, f"{quoted(key)} belongs to {FIELDS[name].owner}, not here")
        elif name in fields.values:
            self.findings.error(place, f"{quoted(key)} stands twice here")
        else:
            example = FIELDS[name].example
            value = FieldValue(node, key, name, self.findings, self.own_name, example)
            read = FIELDS[name].read(value)
            fields.places[name] = place
            fields.inner.update(
                {(name, inner): where for inner, where in value.inner_places().items()}
            )
            if read is not None:
                fields.values[name] = read
