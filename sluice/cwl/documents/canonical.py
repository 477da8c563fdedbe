"""The workflow of a document made self-contained: tools are inlined and identifiers plain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl import features
from sluice.cwl.documents.document import Document
from sluice.cwl.documents.type_definitions import types_of
from sluice.cwl.documents.versions import mark_versions
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import NamedNode, clone, count_values, local_name, named_nodes, put_at
from sluice.cwl.reading.yaml_text import MAX_NODES
from sluice.text.visible_text import quoted

#: What a step can run. A tuple and no set, because the looked-up value may be unhashable.
_CLASSES = tuple(features.PROCESSES)
#: The largest depth of workflows within workflows.
MAX_NESTED_WORKFLOWS = 8


@dataclass(frozen=True, slots=True)
class CanonicalWorkflow:
    """A self-contained copy of a workflow, for the checks and the plan.

    Attributes:
        body: The workflow.
        toolless: Steps whose tool is missing. A placeholder lets the rest be checked.
        types: The named types.
        is_cut: Whether something was left out because the workflow became too large.
    """

    body: CommentedMap
    toolless: frozenset[str]
    types: Mapping[str, CommentedMap]
    is_cut: bool


def make_canonical(document: Document, findings: Findings) -> CanonicalWorkflow:
    """Return the self-contained workflow, and report steps without a tool."""
    body: CommentedMap = clone(document.written)
    tools = _Tools(document, findings)
    toolless = tools.put_into(body, depth=0)
    mark_versions(body, document.version, document.version, findings)
    put_at(body, "id", "main", text_place(body))
    put_at(body, "cwlVersion", document.version, text_place(body))
    return CanonicalWorkflow(body, frozenset(toolless), types_of(document.root), tools.is_cut)


@dataclass(slots=True)
class _Tools:
    """Puts tools into their steps.

    ``copied`` counts the values of copied processes: many steps may run a process that is written
    once.
    """

    document: Document
    findings: Findings
    copied: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether too many values were copied."""
        return self.copied > MAX_NODES

    def put_into(self, workflow: CommentedMap, *, depth: int) -> set[str]:
        """Put the tools of a workflow into its steps.

        Args:
            workflow: The workflow, which is changed.
            depth: The number of workflows around it.

        Returns:
            The steps whose tool is missing.
        """
        identifier = workflow.get("id")
        own = local_name(identifier) if isinstance(identifier, str) else "main"
        _drop_foreign(workflow)
        _plain_ids(workflow.get("inputs"))
        _plain_ids(workflow.get("outputs"))
        _plain_sources(workflow.get("outputs"), "outputSource", own)
        _plain_ids(workflow.get("steps"))
        toolless = set()
        for step in named_nodes(workflow.get("steps")):
            if step.body is None:
                continue
            _plain_step(step.body, own)
            tool = self._tool_of(step, step.body, depth)
            if tool is None:
                toolless.add(step.name)
                tool = _stand_in(step, step.body)
            put_at(step.body, "run", tool, text_place(step.body, "run"))
        return toolless

    def _tool_of(self, step: NamedNode, body: CommentedMap, depth: int) -> CommentedMap | None:
        run, name = body.get("run"), step.name
        if isinstance(run, str):
            run = self._packed_tool(run, step=step.name, place=text_place(body, "run"))
            if run is None:
                return None
        elif "run" not in body:
            self.findings.error(step.place, f"step {quoted(name)} has no tool: 'run' is missing")
            return None
        elif not isinstance(run, CommentedMap):
            self.findings.error(
                text_place(body, "run"), f"'run' of step {quoted(name)} is not a tool"
            )
            return None
        kind = run.get("class")
        is_too_deep = depth > MAX_NESTED_WORKFLOWS
        if kind not in _CLASSES or is_too_deep or (kind == "Operation" and depth > 0):
            self.findings.error(text_place(run, "class"), _other_class(kind, name, depth))
            return None
        if kind == "Workflow":
            self.put_into(run, depth=depth + 1)
        run.pop("id", None)
        _drop_foreign(run)
        for key in ("inputs", "outputs"):
            _plain_ids(run.get(key))
        return run

    def _packed_tool(self, run: str, *, step: str, place: TextPlace) -> CommentedMap | None:
        """Return the process of the packed document that ``run`` names, or None after an error."""
        graph = self.document.graph
        named = graph.get(run.lstrip("#")) or (
            graph.get(local_name(run)) if run.startswith("#") else None
        )
        if named is not None:
            return self._copy_of(named, place)
        if run.startswith("#"):
            self.findings.error(
                place,
                f"the tool {quoted(run)} of step {quoted(step)} is not in this"
                f" document{did_you_mean(run[1:], graph)}",
            )
        else:
            self.findings.error(
                place,
                f"the tool {quoted(run)} of step {quoted(step)} is another file, and a template"
                " must be one text: write the tool here, or pack the document ('cwltool --pack')",
            )
        return None

    def _copy_of(self, process: CommentedMap, place: TextPlace) -> CommentedMap | None:
        """Return a copy of a process, or None if the workflow would become too large.

        The error appears once.
        """
        if self.is_cut:
            return None
        self.copied += count_values(process)
        if not self.is_cut:
            copy: CommentedMap = clone(process)
            return copy
        self.findings.error(
            place,
            f"more than {MAX_NODES} values with what the steps up to here run: too many for a"
            " template",
        )
        return None


def _stand_in(step: NamedNode, body: CommentedMap) -> CommentedMap:
    tool = CommentedMap(
        {
            "class": "CommandLineTool",
            "baseCommand": "true",
            "inputs": CommentedSeq(),
            "outputs": CommentedSeq(),
        }
    )
    for node in (tool, tool["inputs"], tool["outputs"]):
        node.lc.line, node.lc.col, node.lc.data, node.lc.filename = (
            step.place.line - 1,
            step.place.column - 1,
            {},
            body.lc.filename,
        )
    return tool


def _other_class(kind: Any, step: str, depth: int) -> str:
    most = MAX_NESTED_WORKFLOWS
    match kind:
        case "Workflow" | "CommandLineTool" | "ExpressionTool" if depth > most:
            return f"step {quoted(step)} lies in {depth} workflows: at most {most} may be nested"
        case "Operation":
            return (
                f"step {quoted(step)} runs an Operation, which does nothing inside a job: write a"
                " CommandLineTool"
            )
        case None:
            return f"the tool of step {quoted(step)} has no 'class'; write 'class: CommandLineTool'"
    return (
        f"the tool of step {quoted(step)} is of the class"
        f" {quoted(kind)}{did_you_mean(str(kind), _CLASSES)}"
    )


def _drop_foreign(node: CommentedMap) -> None:
    """Remove extension fields, and the ``$`` fields of the whole document."""
    for key in [key for key in node if ":" in key or key.startswith("$")]:
        del node[key]


def _plain_step(step: CommentedMap, own: str) -> None:
    """Make the names and sources of a step plain.

    Args:
        step: The step, which is changed.
        own: The identifier of the workflow, which sources may start with.
    """
    _drop_foreign(step)
    _plain_ids(step.get("in"))
    _plain_sources(step.get("in"), "source", own)
    for key in ("out", "scatter"):
        names = step.get(key)
        _plain_ids(names)
        if isinstance(names, CommentedSeq):
            for index, item in enumerate(names):
                names[index] = local_name(item) if isinstance(item, str) else item
        elif isinstance(names, str):
            step[key] = local_name(names)


def _plain_ids(collection: Any) -> None:
    for entry in named_nodes(collection):
        if entry.body is not None and isinstance(entry.body.get("id"), str):
            entry.body["id"] = entry.name


def _plain_sources(collection: Any, key: str, own: str) -> None:
    """Make the sources of a collection plain.

    Args:
        collection: Step inputs or workflow outputs.
        key: ``source`` or ``outputSource``.
        own: The identifier of the workflow, which sources may start with.
    """
    for entry in named_nodes(collection):
        if entry.body is None:
            continue
        written = entry.body.get(key)
        if isinstance(written, str):
            entry.body[key] = _plain_source(written, own)
        elif isinstance(written, CommentedSeq):
            for index, item in enumerate(written):
                written[index] = _plain_source(item, own) if isinstance(item, str) else item
    if isinstance(collection, CommentedMap):
        for name, value in collection.items():
            if isinstance(value, str) and key == "source":
                collection[name] = _plain_source(value, own)


def _plain_source(written: str, own: str) -> str:
    """Return a plain source: ``#main/decode/hits`` → ``decode/hits``; ``#frames`` → ``frames``."""
    parts = written.rsplit("#", 1)[-1].split("/")
    return "/".join(parts[1:] if "#" in written and len(parts) > 1 and parts[0] == own else parts)
