"""Finds the workflow in a document and makes it self-contained: tools in place, identifiers plain."""

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl import features
from sluice.cwl.documents.type_definitions import types_of
from sluice.cwl.reading.findings import START, Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import (
    NamedNode,
    clone,
    count_values,
    local_name,
    mappings,
    named_nodes,
    put_at,
)
from sluice.cwl.reading.yaml_text import MOST_NODES

VERSIONS = tuple(features.VERSIONS)
_INCLUSIONS = ("$import", "$include", "$mixin")
_CLASSES = ("Workflow", "CommandLineTool", "ExpressionTool", "Operation")
#: What a step can run.
PROCESSES = tuple(features.PROCESSES)
#: Workflows within workflows.
MOST_DEPTH = 8


@dataclass(slots=True)
class Document:
    """``written``: the workflow as it stands in the text. ``workflow``: a copy that needs nothing
    else, for checks and plan."""

    root: CommentedMap
    written: CommentedMap
    version: str
    namespaces: dict[str, str]
    graph: dict[str, CommentedMap]
    workflow: CommentedMap = field(default_factory=CommentedMap)
    #: True when parts stand in other files, so that the CWL loader cannot take it.
    incomplete: bool = False
    #: Steps whose tool is not in the text; a stand-in is in its place, so that the rest can be
    #: checked.
    toolless: set[str] = field(default_factory=set)
    #: By their names, those that have one.
    types: dict[str, CommentedMap] = field(default_factory=dict)
    #: Values of the processes of ``graph`` that were put in place: one that many steps run is
    #: written once, and there are many.
    copied: int = 0

    @property
    def is_cut(self) -> bool:
        """Something was left out, as there would be too much."""
        return self.copied > MOST_NODES


def find_workflow(root: Any, findings: Findings) -> Document | None:
    """None with an error when there is no Workflow to be looked at."""
    if not isinstance(root, CommentedMap):
        findings.error(START, "not CWL: a CWL document is a mapping with 'cwlVersion' and 'class'")
        return None
    graph = _graph(root)
    written = _main(root, graph, findings) if "$graph" in root else root
    if written is None or not _is_workflow(written, findings):
        return None
    version = _version(root, findings)
    document = Document(root, written, version, _namespaces(root, findings), graph)
    _refuse_other_files(document, findings)
    return document


def _graph(root: CommentedMap) -> dict[str, CommentedMap]:
    return {
        entry.name: entry.body
        for entry in named_nodes(root.get("$graph"))
        if entry.body is not None
    }


def _main(
    root: CommentedMap, graph: dict[str, CommentedMap], findings: Findings
) -> CommentedMap | None:
    if not graph:
        findings.error(
            text_place(root, "$graph"), "'$graph' is a list of processes, each with an 'id'"
        )
        return None
    if "main" in graph:
        return graph["main"]
    workflows = [body for body in graph.values() if body.get("class") == "Workflow"]
    if len(workflows) == 1:
        return workflows[0]
    findings.error(
        text_place(root, "$graph"),
        "a packed document needs one process with the id 'main': the workflow that is to be run",
    )
    return None


def _is_workflow(written: CommentedMap, findings: Findings) -> bool:
    kind = written.get("class")
    if kind == "Workflow":
        return True
    if "class" not in written:
        findings.error(
            text_place(written),
            "not CWL: there is no 'class'; a template begins with 'cwlVersion: v1.2' and 'class:"
            " Workflow'",
        )
    elif kind in _CLASSES:
        way = (
            "make it the step of a Workflow"
            if kind == "CommandLineTool"
            else "write a Workflow with CommandLineTools as its steps"
        )
        findings.error(
            text_place(written, "class"), f"a template is a Workflow, not a {kind}: {way}"
        )
    else:
        hint = did_you_mean(str(kind), _CLASSES)
        findings.error(
            text_place(written, "class"),
            f"a template is a Workflow; the class here is {str(kind)[:60]!r}{hint}",
        )
    return False


def _version(root: CommentedMap, findings: Findings) -> str:
    """The document's version, or the newest where it has none: the rest can be checked all the
    same."""
    version = root.get("cwlVersion")
    if "cwlVersion" not in root:
        findings.error(text_place(root), "there is no 'cwlVersion'; write 'cwlVersion: v1.2'")
    elif version not in VERSIONS:
        known = ", ".join(VERSIONS)
        findings.error(
            text_place(root, "cwlVersion"),
            f"the CWL version {str(version)[:40]!r} is not supported; there is: {known}",
        )
    return version if version in VERSIONS else VERSIONS[-1]


def _namespaces(root: CommentedMap, findings: Findings) -> dict[str, str]:
    written = root.get("$namespaces")
    if "$namespaces" not in root:
        return {}
    if not isinstance(written, CommentedMap) or not all(
        isinstance(value, str) for value in written.values()
    ):
        findings.error(text_place(root, "$namespaces"), "'$namespaces' maps prefixes to addresses")
        return {}
    return dict(written)


def _refuse_other_files(document: Document, findings: Findings) -> None:
    for node in mappings(document.root):
        for key in _INCLUSIONS:
            if key in node:
                document.incomplete = True
                findings.error(
                    text_place(node, key),
                    f"'{key}' reads another file, and a template must be one text: write its"
                    " content here",
                )
        if node.get("class") in ("File", "Directory"):
            for key in ("location", "path"):
                if (
                    isinstance(node.get(key), str)
                    and "$(" not in node[key]
                    and "${" not in node[key]
                ):
                    way = "give its text as 'contents', " if node["class"] == "File" else ""
                    findings.error(
                        text_place(node, key),
                        f"'{key}' names a {node['class'].lower()} outside this text, which no job"
                        f" will have; {way}{'or ' if way else ''}install it with the tool",
                    )


def canonical(document: Document, findings: Findings) -> None:
    """Fills ``document.workflow``. Steps whose tool is not in the text are told, and get a
    stand-in."""
    workflow = clone(document.written)
    document.toolless |= _canonical_workflow(workflow, document, findings, depth=0)
    _tell_versions(workflow, document.version, document.version, findings)
    put_at(workflow, "id", "main", text_place(workflow))
    put_at(workflow, "cwlVersion", document.version, text_place(workflow))
    document.workflow = workflow
    document.types = types_of(document.root)


def _tell_versions(
    workflow: CommentedMap, version: str, outermost: str, findings: Findings
) -> None:
    """Processes from files of another version, and all that is written in these, say so.
    ``version``: the workflow's."""
    for step in named_nodes(workflow.get("steps")):
        run = None if step.body is None else step.body.get("run")
        if not isinstance(run, CommentedMap):
            continue
        own = run.get("cwlVersion", version)
        if own in VERSIONS and VERSIONS.index(own) > VERSIONS.index(outermost):
            findings.error(
                text_place(run, "cwlVersion"),
                f"this file is of CWL {own}, and the workflow of {outermost}: write 'cwlVersion:"
                f" {own}' in the workflow",
            )
        if own in VERSIONS and (own, version) != (outermost, outermost):
            put_at(run, "cwlVersion", own, text_place(run))
        _tell_versions(run, own, outermost, findings)


def drop_inner_versions(root: Any, findings: Findings) -> None:
    """What is written inside a file is of that file's version, whatever it says."""
    if not isinstance(root, CommentedMap):
        return
    inner = [
        node
        for node in mappings(root)
        if node is not root and "cwlVersion" in node and node.get("class") in _CLASSES
    ]
    for node in inner:
        if node["cwlVersion"] != root.get("cwlVersion") and "cwlVersion" in root:
            findings.warning(
                text_place(node, "cwlVersion"),
                f"this is part of a file of {str(root['cwlVersion'])[:40]}, and 'cwlVersion' has no"
                " effect here: leave it out, or put the process into a file of its own, named by"
                " 'run'",
            )
        if "cwlVersion" in root:
            del node["cwlVersion"]


def _canonical_workflow(
    workflow: CommentedMap, document: Document, findings: Findings, *, depth: int
) -> set[str]:
    """Gives the steps whose tool is not in the text. ``depth``: of workflows around this one."""
    identifier = workflow.get("id")
    own = local_name(identifier) if isinstance(identifier, str) else "main"
    for key in [key for key in workflow if _foreign(key)]:
        del workflow[key]
    _plain_ids(workflow.get("inputs"))
    _plain_ids(workflow.get("outputs"))
    _plain_sources(workflow.get("outputs"), "outputSource", own)
    _plain_ids(workflow.get("steps"))
    toolless = set()
    for step in named_nodes(workflow.get("steps")):
        if step.body is not None and not _canonical_step(
            step, step.body, document, findings, own=own, depth=depth
        ):
            toolless.add(step.name)
    return toolless


def _canonical_step(
    step: NamedNode,
    body: CommentedMap,
    document: Document,
    findings: Findings,
    *,
    own: str,
    depth: int,
) -> bool:
    """``own``: the workflow's identifier, with which a source may begin. False where the tool is
    missing."""
    for key in [key for key in body if _foreign(key)]:
        del body[key]
    _plain_ids(body.get("in"))
    _plain_sources(body.get("in"), "source", own)
    for key in ("out", "scatter"):
        names = body.get(key)
        _plain_ids(names)
        if isinstance(names, CommentedSeq):
            for index, item in enumerate(names):
                names[index] = local_name(item) if isinstance(item, str) else item
        elif isinstance(names, str):
            body[key] = local_name(names)
    tool = _tool_of(step, body, document, findings, depth=depth)
    put_at(body, "run", _stand_in(step, body) if tool is None else tool, text_place(body, "run"))
    return tool is not None


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
            step.place[0] - 1,
            step.place[1] - 1,
            {},
            body.lc.filename,
        )
    return tool


def _tool_of(
    step: NamedNode, body: CommentedMap, document: Document, findings: Findings, *, depth: int
) -> CommentedMap | None:
    run, name = body.get("run"), step.name
    if isinstance(run, str):
        run = _packed_tool(run, document, findings, step=step.name, place=text_place(body, "run"))
        if run is None:
            return None
    elif "run" not in body:
        findings.error(step.place, f"step '{name}' has no tool: 'run' is missing")
        return None
    elif not isinstance(run, CommentedMap):
        findings.error(text_place(body, "run"), f"'run' of step '{name}' is not a tool")
        return None
    kind = run.get("class")
    if kind not in PROCESSES or depth > MOST_DEPTH or (kind == "Operation" and depth > 0):
        findings.error(text_place(run, "class"), _other_class(kind, name, depth))
        return None
    if kind == "Workflow":
        _canonical_workflow(run, document, findings, depth=depth + 1)
    for key in ("id", *[key for key in run if _foreign(key)]):
        run.pop(key, None)
    for key in ("inputs", "outputs"):
        _plain_ids(run.get(key))
    return run


def _packed_tool(
    run: str, document: Document, findings: Findings, *, step: str, place: TextPlace
) -> CommentedMap | None:
    """The process of the packed document that ``run`` names."""
    named = document.graph.get(run.lstrip("#")) or (
        document.graph.get(local_name(run)) if run.startswith("#") else None
    )
    if named is not None:
        return _copied(named, document, findings, place)
    if run.startswith("#"):
        findings.error(
            place,
            f"the tool {run[:120]!r} of step '{step}' is not in this"
            f" document{did_you_mean(run[1:], document.graph)}",
        )
    else:
        findings.error(
            place,
            f"the tool {run[:120]!r} of step '{step}' is another file, and a template must be one"
            " text: write the tool here, or pack the document ('cwltool --pack')",
        )
    return None


def _copied(
    process: CommentedMap, document: Document, findings: Findings, place: TextPlace
) -> CommentedMap | None:
    """None, and once an error, where the workflow would get too large."""
    if document.is_cut:
        return None
    document.copied += count_values(process)
    if not document.is_cut:
        copy: CommentedMap = clone(process)
        return copy
    findings.error(
        place,
        f"more than {MOST_NODES} values with what the steps up to here run: too many for a"
        " template",
    )
    return None


def _other_class(kind: Any, step: str, depth: int) -> str:
    match kind:
        case "Workflow" | "CommandLineTool" | "ExpressionTool" if depth > MOST_DEPTH:
            return f"step '{step}' lies in {depth} workflows: at most {MOST_DEPTH} may be nested"
        case "Operation":
            return (
                f"step '{step}' runs an Operation, which does nothing inside a job: write a"
                " CommandLineTool"
            )
        case None:
            return f"the tool of step '{step}' has no 'class'; write 'class: CommandLineTool'"
    return (
        f"the tool of step '{step}' is of the class"
        f" {str(kind)[:60]!r}{did_you_mean(str(kind), _CLASSES)}"
    )


def _foreign(key: str) -> bool:
    """A field of an extension, of ours or of others; or a ``$`` field of the whole document."""
    return ":" in key or key.startswith("$")


def _plain_ids(collection: Any) -> None:
    for entry in named_nodes(collection):
        if entry.body is not None and isinstance(entry.body.get("id"), str):
            entry.body["id"] = entry.name


def _plain_sources(collection: Any, key: str, own: str) -> None:
    """``key``: ``source`` or ``outputSource``; ``own``: the workflow's identifier, with which a
    source may begin."""
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
    """``#main/decode/hits`` → ``decode/hits``; ``#frames`` → ``frames``."""
    parts = written.rsplit("#", 1)[-1].split("/")
    return "/".join(parts[1:] if "#" in written and len(parts) > 1 and parts[0] == own else parts)
