"""Patterns of secondary files, and the data sets whose files have them at fetch time."""

from collections.abc import Iterator
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.templates.plan import DataEntries, SecondaryFile
from sluice.contracts.templates.secondary_files import read_patterns
from sluice.cwl.documents.types import ARRAY_OF_FILES, without_null
from sluice.cwl.documents.workflow import Port, Workflow
from sluice.cwl.reading.findings import Findings
from sluice.cwl.reading.nodes import NamedNode, as_list, named_nodes, put_at
from sluice.text.visible_text import quoted


def declare_needed_files(
    workflow: Workflow, excluded_names: frozenset[str], findings: Findings
) -> None:
    """Give each input of the workflow the ``secondaryFiles`` that tools need beside its files.

    Args:
        workflow: The workflow, whose inputs are changed.
        excluded_names: The inputs that are left as they are.
        findings: Gets a warning for each changed input.
    """
    for port in workflow.inputs.values():
        if (
            port.name in excluded_names
            or "secondaryFiles" in port.body
            or without_null(port.type) not in ("File", ARRAY_OF_FILES)
        ):
            continue
        patterns = list(dict.fromkeys(_needed_patterns(workflow.body, port.name)))
        if not any(pattern.required for pattern in patterns):
            continue
        texts = CommentedSeq(f"{one.pattern}{'' if one.required else '?'}" for one in patterns)
        put_at(port.body, "secondaryFiles", texts, port.place)
        findings.warning(
            port.place,
            f"the files of {quoted(port.name)} have secondaryFiles ({', '.join(texts)}), because"
            " tools need them: write 'secondaryFiles' there",
        )


def _needed_patterns(process: CommentedMap, source: str) -> Iterator[SecondaryFile]:
    """Yield the patterns of the tools' inputs that get an input of the workflow unchanged."""
    for step in named_nodes(process.get("steps")):
        body = step.body or {}
        tool = body.get("run")
        if not isinstance(tool, CommentedMap):
            continue
        inputs = {entry.name: entry.body for entry in named_nodes(tool.get("inputs"))}
        for link in named_nodes(body.get("in")):
            if source not in _sources(link) or "valueFrom" in (link.body or ()):
                continue
            if "secondaryFiles" in (declared := inputs.get(link.name) or {}):
                yield from filter(None, read_patterns(declared["secondaryFiles"]))
            elif tool.get("class") == "Workflow":
                yield from _needed_patterns(tool, link.name)


def _sources(link: NamedNode) -> list[Any]:
    return [link.value] if link.body is None else as_list(link.body.get("source"))


def data_entries(port: Port, *, is_bundle: bool = False) -> DataEntries:
    """Return the kind of entries of a data input that has been checked."""
    is_file = without_null(port.type) in ("File", ARRAY_OF_FILES)
    return DataEntries(
        type="Any" if is_bundle else "File" if is_file else "Directory",
        secondary_files=list(filter(None, read_patterns(port.body.get("secondaryFiles")))),
    )
