"""A CWL document as written, and the process in it that is the template."""

from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl import features
from sluice.cwl.documents.file_literals import find_outside_name
from sluice.cwl.documents.versions import VERSIONS
from sluice.cwl.reading.findings import START, Findings, suggest_or_list, text_place
from sluice.cwl.reading.nodes import mappings, named_nodes
from sluice.text.identifiers import local_name
from sluice.text.visible_text import quoted

_INCLUSIONS = ("$import", "$include", "$mixin")
#: The classes of templates. A tuple instead of a set, because the value may be unhashable.
_TEMPLATES = tuple(name for name in features.PROCESSES if name != "Operation")


#: The advice in messages about a file outside the template.
_ADVICE = {
    "File": "give its text as 'contents', or name a text of at most 1 MiB that is uploaded along",
    "Directory": "let the workflow have an input for it",
}


@dataclass(frozen=True, slots=True)
class Document:
    """A CWL document.

    Attributes:
        root: The whole document.
        workflow: The process in it that is the template: a workflow or a tool.
        version: The CWL version.
        namespaces: The addresses of the prefixes.
        graph: The processes of a packed document by name.
        is_incomplete: Whether parts are in other files, so that the CWL loader cannot load it.
    """

    root: CommentedMap
    workflow: CommentedMap
    version: str
    namespaces: dict[str, str]
    graph: dict[str, CommentedMap]
    is_incomplete: bool


def find_process(root: Any, findings: Findings, process_id: str | None = None) -> Document | None:
    """Return the document, or None after an error if it has no process to check.

    ``process_id`` names a process of a packed document. The default is its main process.
    """
    if not isinstance(root, CommentedMap):
        findings.error(START, "not CWL: a CWL document is a mapping with 'cwlVersion' and 'class'")
        return None
    graph = _graph_processes(root)
    if process_id is not None:
        workflow = _named_process(root, graph, process_id, findings)
    else:
        workflow = _main_process(root, graph, findings) if "$graph" in root else root
    if workflow is None or not _is_template(workflow, findings):
        return None
    version, namespaces = _version(root, findings), _namespaces(root, findings)
    is_incomplete = _check_other_files(root, findings)
    return Document(root, workflow, version, namespaces, graph, is_incomplete)


def _graph_processes(root: CommentedMap) -> dict[str, CommentedMap]:
    return {
        entry.name: entry.body
        for entry in named_nodes(root.get("$graph"))
        if entry.body is not None
    }


def _named_process(
    root: CommentedMap, graph: dict[str, CommentedMap], process_id: str, findings: Findings
) -> CommentedMap | None:
    is_only = "$graph" not in root and local_name(str(root.get("id"))) == process_id
    process = root if is_only else graph.get(process_id)
    if process is None:
        findings.error(
            START, f"there is no process {quoted(process_id)}{suggest_or_list(process_id, graph)}"
        )
    return process


def _main_process(
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
    processes = [body for body in graph.values() if body.get("class") in _TEMPLATES]
    for candidates in (workflows, processes):
        if len(candidates) == 1:
            return candidates[0]
    findings.error(
        text_place(root, "$graph"),
        "a packed document needs one process with the id 'main': the workflow that is to be run",
    )
    return None


def _is_template(process: CommentedMap, findings: Findings) -> bool:
    kind = process.get("class")
    if kind in _TEMPLATES:
        return True
    if "class" not in process:
        findings.error(
            text_place(process),
            "not CWL: there is no 'class'; a template begins with 'cwlVersion: v1.2' and 'class:"
            " Workflow'",
        )
    elif kind == "Operation":
        findings.error(
            text_place(process, "class"),
            "a template is a Workflow or a tool, not an Operation: make it the step of a Workflow",
        )
    else:
        hint = suggest_or_list(str(kind), _TEMPLATES)
        findings.error(
            text_place(process, "class"),
            f"a template is a Workflow or a tool; the class here is {quoted(kind)}{hint}",
        )
    return False


def _version(root: CommentedMap, findings: Findings) -> str:
    """Return the CWL version, or the newest if it is missing, so that the checks can continue."""
    version = root.get("cwlVersion")
    if "cwlVersion" not in root:
        findings.error(text_place(root), "there is no 'cwlVersion'; write 'cwlVersion: v1.2'")
    elif version not in VERSIONS:
        known_versions = ", ".join(VERSIONS)
        findings.error(
            text_place(root, "cwlVersion"),
            f"the CWL version {quoted(version)} is not supported; there is: {known_versions}",
        )
    return version if version in VERSIONS else VERSIONS[-1]


def _namespaces(root: CommentedMap, findings: Findings) -> dict[str, str]:
    namespaces = root.get("$namespaces")
    if "$namespaces" not in root:
        return {}
    if not isinstance(namespaces, CommentedMap) or not all(
        isinstance(value, str) for value in namespaces.values()
    ):
        findings.error(text_place(root, "$namespaces"), "'$namespaces' maps prefixes to addresses")
        return {}
    return dict(namespaces)


def _check_other_files(root: CommentedMap, findings: Findings) -> bool:
    """Report references to other files, and return whether another file would be included."""
    includes = False
    for node in mappings(root):
        for key in _INCLUSIONS:
            if key in node:
                includes = True
                findings.error(
                    text_place(node, key),
                    f"{quoted(key)} reads another file, and a template must be one text: write its"
                    " content here",
                )
        if (name := find_outside_name(node)) is not None:
            findings.warning(
                text_place(node, name),
                f"{quoted(name)} names a {node['class'].lower()} that is not part of the template,"
                f" so no job has it: {_ADVICE[node['class']]}",
            )
    return includes
