"""The choice of the workflow among the files of an upload."""

import posixpath
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.templates.templates import split_main
from sluice.cwl.documents.references import referenced_files
from sluice.cwl.reading.findings import START, Findings
from sluice.cwl.reading.nodes import named_nodes
from sluice.cwl.reading.uploads import Upload
from sluice.cwl.reading.yaml_text import ValueBudget, read_text
from sluice.text.visible_text import quoted, shortened

#: The endings of the names of CWL documents.
_DOCUMENT_SUFFIXES = (".cwl", ".yml", ".yaml", ".json")
#: The classes of tools that can be templates. A tuple, because the value may be unhashable.
_TOOLS = ("CommandLineTool", "ExpressionTool")
#: The number of files that a finding names. Further files are counted.
_MAX_SHOWN_FILES = 10


def find_main(upload: Upload, findings: Findings) -> str | None:
    """Return the path of the workflow, or None after an error if it is missing or unclear.

    It is the file that the upload names, with the process if it names one. Otherwise it is the only
    workflow that no other file refers to, or the only one among them that is called ``main``.
    Without workflows, the same holds for tools.
    """
    if upload.main is not None:
        path, _ = split_main(upload.main, upload.texts)
        if path not in upload.texts:
            findings.error(
                START,
                f"there is no file {quoted(path)} among the files: {_describe_files(upload.texts)}",
            )
            return None
        return upload.main
    if len(upload.texts) == 1:
        return next(iter(upload.texts))
    contents = _read_contents(upload)
    processes = contents.workflows or contents.tools
    roots = [key for key in processes if key not in contents.referenced_processes]
    main_files = [key for key in roots if posixpath.basename(key).rpartition(".")[0] == "main"]
    for candidates in (main_files, [] if contents.read_errors else roots):
        if len(candidates) == 1:
            return candidates[0]
    _report_unclear_main(upload, contents, roots, findings)
    return None


@dataclass(slots=True)
class _Contents:
    """The contents of an upload.

    Attributes:
        workflows: The paths of workflows.
        tools: The paths of tools.
        referenced_processes: The paths that other files refer to.
        read_errors: The errors of CWL files that cannot be read.
    """

    workflows: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    referenced_processes: set[str] = field(default_factory=set)
    read_errors: list[Findings] = field(default_factory=list)


def _report_unclear_main(
    upload: Upload, contents: _Contents, roots: Collection[str], findings: Findings
) -> None:
    if contents.read_errors:  # an unreadable file may be the workflow
        for other in contents.read_errors:
            findings.include(other)
    elif roots:
        problem = (
            f"several of the files are {'workflows' if contents.workflows else 'tools'} that no"
            f" other refers to: {_describe_files(roots)}"
        )
        findings.error(START, f"{problem}; say which is the main one")
    elif contents.workflows:
        findings.error(
            START,
            f"the workflows refer to each other in a cycle: {_describe_files(contents.workflows)};"
            " say which is the main one",
        )
    else:
        findings.error(
            START, f"none of the files is a CWL process: {_describe_files(upload.texts)}"
        )


def _read_contents(upload: Upload) -> _Contents:
    """Read the documents of an upload, one at a time.

    CWL files come first, so that other files do not use up the budget.
    """
    contents = _Contents()
    budget = ValueBudget()
    for key in sorted(upload.texts, key=lambda name: not _is_cwl(name)):
        if budget.remaining < 0:
            break
        if key.lower().endswith(_DOCUMENT_SUFFIXES):
            file_findings = Findings(key)
            root = read_text(upload.texts[key], file_findings, budget)
            if _is_workflow(root):
                contents.workflows.append(key)
            elif isinstance(root, CommentedMap) and root.get("class") in _TOOLS:
                contents.tools.append(key)
            if root is None and _is_cwl(key):
                contents.read_errors.append(file_findings)
            references = referenced_files(key, root, upload.files)
            contents.referenced_processes |= {other for other in references if other != key}
    return contents


def _is_cwl(key: str) -> bool:
    return key.lower().endswith(".cwl")


def _is_workflow(root: Any) -> bool:
    if not isinstance(root, CommentedMap):
        return False
    if "$graph" in root:
        return any(
            entry.body is not None and entry.body.get("class") == "Workflow"
            for entry in named_nodes(root["$graph"])
        )
    return bool(root.get("class") == "Workflow")


def _describe_files(names: Collection[str]) -> str:
    ordered = sorted(names)
    return ", ".join(map(shortened, ordered[:_MAX_SHOWN_FILES])) + (
        f" and {len(ordered) - _MAX_SHOWN_FILES} more" if len(ordered) > _MAX_SHOWN_FILES else ""
    )
