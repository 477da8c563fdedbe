"""The workflow of a document made self-contained: tools are inlined and identifiers plain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl import features
from sluice.cwl.documents.document import Document
from sluice.cwl.documents.file_literals import find_outside_name
from sluice.cwl.documents.type_definitions import collect_types
from sluice.cwl.documents.versions import mark_versions
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import (
    NamedNode,
    clone,
    count_values,
    mappings,
    named_nodes,
    put_at,
)
from sluice.cwl.reading.yaml_text import MAX_NODES
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted

#: The classes of processes that a step can run. A tuple instead of a set, because the value may be
#: unhashable.
_CLASSES = tuple(features.PROCESSES)
#: The largest depth of workflows within workflows.
MAX_NESTED_WORKFLOWS = 8


@dataclass(frozen=True, slots=True)
class CanonicalWorkflow:
    """A self-contained copy of a workflow, for the checks and the plan.

    Attributes:
        body: The workflow.
        steps_without_tool: Steps whose tool is missing. A placeholder lets the rest be checked.
        types: The named types.
        is_truncated: Whether something was left out because the workflow became too large.
    """

    body: CommentedMap
    steps_without_tool: frozenset[str]
    types: Mapping[str, CommentedMap]
    is_truncated: bool


def make_canonical(document: Document, findings: Findings) -> CanonicalWorkflow:
    """Return the self-contained workflow, and report steps without a tool."""
    body: CommentedMap = clone(document.workflow)
    inliner = _ToolInliner(document, findings)
    steps_without_tool = inliner.inline_tools(body, depth=0)
    _drop_outside_defaults(body, findings)
    mark_versions(body, document.version, document.version)
    put_at(body, "id", "main", text_place(body))
    put_at(body, "cwlVersion", document.version, text_place(body))
    return CanonicalWorkflow(
        body, frozenset(steps_without_tool), collect_types(document.root), inliner.is_truncated
    )


def _drop_outside_defaults(process: CommentedMap, findings: Findings) -> None:
    """Make inputs mandatory whose default names a file that is not part of the template."""
    for entry in named_nodes(process.get("inputs")):
        default = None if entry.body is None else entry.body.get("default")
        if entry.body is None or all(find_outside_name(part) is None for part in mappings(default)):
            continue
        findings.warning(
            text_place(entry.body, "default"),
            f"each chain must give {quoted(entry.name)}, because its default is not part of the"
            " template",
        )
        del entry.body["default"]
        kind = _without_null(entry.body.get("type"))
        put_at(entry.body, "type", kind, text_place(entry.body, "type"))


def _without_null(kind: Any) -> Any:
    """Return a type, as it is written, without null among its alternatives."""
    if isinstance(kind, str):
        return kind.removesuffix("?")
    if isinstance(kind, CommentedSeq):
        members = [member for member in kind if member != "null"]
        if len(members) == 1:
            return members[0]
        kind[:] = members
    return kind


@dataclass(slots=True)
class _ToolInliner:
    """Puts tools into their steps.

    ``copied_values`` counts the values of copied processes, because many steps may run the same
    process.
    """

    document: Document
    findings: Findings
    copied_values: int = 0

    @property
    def is_truncated(self) -> bool:
        """Whether too many values were copied."""
        return self.copied_values > MAX_NODES

    def inline_tools(self, workflow: CommentedMap, *, depth: int) -> set[str]:
        """Put the tools of a workflow into its steps.

        Args:
            workflow: The workflow, which is changed.
            depth: The number of workflows around it.

        Returns:
            The steps whose tool is missing.
        """
        identifier = workflow.get("id")
        workflow_id = local_name(identifier) if isinstance(identifier, str) else "main"
        _remove_extensions(workflow)
        _simplify_ids(workflow.get("inputs"))
        _simplify_ids(workflow.get("outputs"))
        _simplify_sources(workflow.get("outputs"), "outputSource", workflow_id)
        _simplify_ids(workflow.get("steps"))
        steps_without_tool = set()
        for step in named_nodes(workflow.get("steps")):
            if step.body is None:
                continue
            _simplify_step(step.body, workflow_id)
            tool = self._find_tool(step, step.body, depth)
            if tool is None:
                steps_without_tool.add(step.name)
                tool = _placeholder_tool(step, step.body)
            put_at(step.body, "run", tool, text_place(step.body, "run"))
        return steps_without_tool

    def _find_tool(self, step: NamedNode, body: CommentedMap, depth: int) -> CommentedMap | None:
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
            self.findings.error(text_place(run, "class"), _class_error(kind, name, depth))
            return None
        if kind == "Workflow":
            self.inline_tools(run, depth=depth + 1)
        run.pop("id", None)
        _remove_extensions(run)
        for key in ("inputs", "outputs"):
            _simplify_ids(run.get(key))
        return run

    def _packed_tool(self, run: str, *, step: str, place: TextPlace) -> CommentedMap | None:
        """Return the process of the packed document that ``run`` names, or None after an error."""
        graph = self.document.graph
        process = graph.get(run.lstrip("#")) or (
            graph.get(local_name(run)) if run.startswith("#") else None
        )
        if process is not None:
            return self._copy_process(process, place)
        if run.startswith("#"):
            self.findings.error(
                place,
                f"the tool {quoted(run)} of step {quoted(step)} is not in this"
                f" document{suggest_or_list(run[1:], graph)}",
            )
        else:
            self.findings.error(
                place,
                f"the tool {quoted(run)} of step {quoted(step)} is another file, and a template"
                " must be one text: write the tool here, or pack the document ('cwltool --pack')",
            )
        return None

    def _copy_process(self, process: CommentedMap, place: TextPlace) -> CommentedMap | None:
        """Return a copy of a process, or None if the workflow would become too large.

        The error appears once.
        """
        if self.is_truncated:
            return None
        self.copied_values += count_values(process)
        if not self.is_truncated:
            copy: CommentedMap = clone(process)
            return copy
        self.findings.error(
            place,
            f"more than {MAX_NODES} values with what the steps up to here run: too many for a"
            " template",
        )
        return None


def _placeholder_tool(step: NamedNode, body: CommentedMap) -> CommentedMap:
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


def _class_error(kind: Any, step: str, depth: int) -> str:
    max_depth = MAX_NESTED_WORKFLOWS
    match kind:
        case "Workflow" | "CommandLineTool" | "ExpressionTool" if depth > max_depth:
            return f"step {quoted(step)} is nested in {depth} workflows: {max_depth} are allowed"
        case "Operation":
            return (
                f"step {quoted(step)} runs an Operation, which does nothing inside a job: write a"
                " CommandLineTool"
            )
        case None:
            return f"the tool of step {quoted(step)} has no 'class'; write 'class: CommandLineTool'"
    return (
        f"the tool of step {quoted(step)} is of the class"
        f" {quoted(kind)}{suggest_or_list(str(kind), _CLASSES)}"
    )


def _remove_extensions(node: CommentedMap) -> None:
    """Remove extension fields, and the ``$`` fields of the whole document."""
    for key in [key for key in node if ":" in key or key.startswith("$")]:
        del node[key]


def _simplify_step(step: CommentedMap, workflow_id: str) -> None:
    """Make the names and sources of a step plain.

    Args:
        step: The step, which is changed.
        workflow_id: The identifier of the workflow, which sources may start with.
    """
    _remove_extensions(step)
    _simplify_ids(step.get("in"))
    _simplify_sources(step.get("in"), "source", workflow_id)
    for key in ("out", "scatter"):
        names = step.get(key)
        _simplify_ids(names)
        if isinstance(names, CommentedSeq):
            for index, item in enumerate(names):
                names[index] = local_name(item) if isinstance(item, str) else item
        elif isinstance(names, str):
            step[key] = local_name(names)


def _simplify_ids(collection: Any) -> None:
    for entry in named_nodes(collection):
        if entry.body is not None and isinstance(entry.body.get("id"), str):
            entry.body["id"] = entry.name


def _simplify_sources(collection: Any, key: str, workflow_id: str) -> None:
    """Make the sources of a collection plain.

    Args:
        collection: Step inputs or workflow outputs.
        key: ``source`` or ``outputSource``.
        workflow_id: The identifier of the workflow, which sources may start with.
    """
    for entry in named_nodes(collection):
        if entry.body is None:
            continue
        source = entry.body.get(key)
        if isinstance(source, str):
            entry.body[key] = _simplify_source(source, workflow_id)
        elif isinstance(source, CommentedSeq):
            for index, item in enumerate(source):
                source[index] = (
                    _simplify_source(item, workflow_id) if isinstance(item, str) else item
                )
    if isinstance(collection, CommentedMap):
        for name, value in collection.items():
            if isinstance(value, str) and key == "source":
                collection[name] = _simplify_source(value, workflow_id)


def _simplify_source(source: str, workflow_id: str) -> str:
    """Return a plain source: ``#main/decode/hits`` → ``decode/hits``; ``#frames`` → ``frames``."""
    parts = source.rsplit("#", 1)[-1].split("/")
    return "/".join(
        parts[1:] if "#" in source and len(parts) > 1 and parts[0] == workflow_id else parts
    )
