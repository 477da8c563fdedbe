"""CWL versions of a document, and of the processes in it that come from other files."""

from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.cwl import features
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import mappings, named_nodes, put_at
from sluice.text.visible_text import quoted

VERSIONS = tuple(features.VERSIONS)
#: A tuple instead of a set, because the value may be unhashable.
_CLASSES = tuple(features.PROCESSES)


def drop_inner_versions(root: Any, findings: Findings) -> None:
    """Remove the versions inside a file: the version of the file applies to all of it."""
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
                f"this is part of a file of {quoted(str(root['cwlVersion']))}, and 'cwlVersion' has"
                " no effect here: leave it out, or put the process into a separate file, named by"
                " 'run'",
            )
        if "cwlVersion" in root:
            del node["cwlVersion"]


def mark_versions(workflow: CommentedMap, version: str, outermost: str) -> None:
    """Mark processes from files of another version, and the processes in them, with the version.

    Args:
        workflow: The workflow, which is changed.
        version: Its version.
        outermost: The version of the document.
    """
    for step in named_nodes(workflow.get("steps")):
        run = None if step.body is None else step.body.get("run")
        if not isinstance(run, CommentedMap):
            continue
        own_version = run.get("cwlVersion", version)
        if own_version in VERSIONS and (own_version, version) != (outermost, outermost):
            put_at(run, "cwlVersion", own_version, text_place(run))
        mark_versions(run, own_version, outermost)
