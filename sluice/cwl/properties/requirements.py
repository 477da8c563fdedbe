"""CWL requirements and hints of tool, step and workflow, with CWL's precedence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.cwl.documents.document import Document
from sluice.cwl.documents.workflow import Step
from sluice.cwl.features import (
    CWLTOOL_EXTENSIONS,
    CWLTOOL_NAMESPACE,
    REQUIREMENTS_SINCE_V1_1,
    TOOL_REQUIREMENTS,
    WORKFLOW_REQUIREMENTS,
    refused_features,
)
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, TextPlace, suggest_or_list, text_place
from sluice.cwl.reading.nodes import NamedNode, named_nodes, plain_json, processes_inside, put_at
from sluice.text.visible_text import quoted

CUDA_REQUIREMENT, OLD_TIME_LIMIT, SECRETS = (
    f"{CWLTOOL_NAMESPACE}{name}" for name in ("CUDARequirement", "TimeLimit", "Secrets")
)
#: Supported extensions of cwltool. Its schema does not know them, so they are removed before its
#: checks.
KNOWN_EXTENSIONS = (CUDA_REQUIREMENT, OLD_TIME_LIMIT, SECRETS)
_REFUSED_EXTENSIONS = {
    CWLTOOL_NAMESPACE + name: CWLTOOL_EXTENSIONS[name]
    for name in refused_features(CWLTOOL_EXTENSIONS)
}
_KNOWN_REQUIREMENTS = frozenset({*TOOL_REQUIREMENTS, *WORKFLOW_REQUIREMENTS})


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement or a hint."""

    name: str
    body: CommentedMap
    place: TextPlace
    #: Whether this is a requirement and not a hint.
    required: bool


#: The requirements that apply to a process, by class.
Requirements = dict[str, Requirement]


def check_requirement_names(template: ParsedTemplate, findings: Findings) -> None:
    """Report unknown requirements as errors, and unknown hints as warnings."""
    workflow = template.canonical.body
    _check_names(workflow, template.document, findings)
    for step, process in processes_inside(workflow):
        _check_names(step, template.document, findings)
        _check_names(process, template.document, findings)


def _check_names(owner: CommentedMap, document: Document, findings: Findings) -> None:
    for kind in ("requirements", "hints"):
        if kind in owner and owner[kind] is None:
            findings.error(text_place(owner, kind), f"{quoted(kind)} is empty: leave it out")
        for entry in named_nodes(owner.get(kind), "class"):
            name = expand_prefix(entry.name, document.namespaces)
            if entry.body is None and isinstance(owner[kind], CommentedSeq):
                findings.error(
                    entry.place,
                    f"a bare name is not an item of {quoted(kind)}: write"
                    f" '- class: {entry.name[:80]}'",
                )
            elif name in KNOWN_EXTENSIONS:
                continue
            elif name in _REFUSED_EXTENSIONS:
                findings.error(
                    entry.place,
                    f"{quoted(entry.name)} is not supported, not even as a hint:"
                    f" {_REFUSED_EXTENSIONS[name].note}",
                )
            elif kind == "hints" and name not in _KNOWN_REQUIREMENTS:
                findings.warning(
                    entry.place,
                    f"the hint {quoted(entry.name)} is not known here, and has no effect",
                )
            elif name not in _KNOWN_REQUIREMENTS:
                findings.error(
                    entry.place,
                    f"the requirement {quoted(entry.name)} is not"
                    f" supported{suggest_or_list(name, _KNOWN_REQUIREMENTS)}",
                )
            elif kind == "requirements" and name in refused_features(TOOL_REQUIREMENTS):
                findings.error(
                    entry.place,
                    f"{quoted(name)} is not supported as a requirement:"
                    f" {TOOL_REQUIREMENTS[name].note}",
                )
            elif (
                kind == "requirements"
                and name in REQUIREMENTS_SINCE_V1_1
                and owner.get("cwlVersion", document.version) == "v1.0"
            ):
                findings.error(
                    entry.place, f"{quoted(name)} is not part of CWL v1.0: write 'cwlVersion: v1.2'"
                )


def step_requirements(step: Step, template: ParsedTemplate) -> Requirements:
    """Return the requirements and hints that apply to the step's tool."""
    owners = (step.tool, step.body, template.canonical.body)
    return effective_requirements(owners, template.document.namespaces)


def list_inner_requirements(step: Step, template: ParsedTemplate) -> list[Requirements]:
    """Return the requirements and hints that apply to each process inside a step's workflow."""
    namespaces = template.document.namespaces
    return [
        effective_requirements((tool, body), namespaces)
        for body, tool in processes_inside(step.tool)
    ]


def effective_requirements(
    owners: Sequence[CommentedMap], namespaces: dict[str, str]
) -> Requirements:
    """Return the requirements and hints that apply, by class.

    Requirements come before hints. Among requirements, and among hints, the tool comes before the
    step, and the step before the workflow.

    Args:
        owners: The tool, the step and the workflows, the innermost first.
        namespaces: The addresses of the prefixes.
    """
    requirements: Requirements = {}
    for kind in ("requirements", "hints"):
        for owner in owners:
            for entry in named_nodes(owner.get(kind), "class"):
                name = expand_prefix(entry.name, namespaces)
                is_known = name in TOOL_REQUIREMENTS or name in KNOWN_EXTENSIONS
                if is_known and name not in requirements and entry.body is not None:
                    requirements[name] = Requirement(
                        name, entry.body, _place(owner, kind, entry), kind == "requirements"
                    )
    return requirements


def _place(owner: CommentedMap, kind: str, entry: NamedNode) -> TextPlace:
    return entry.place if owner.get(kind) else text_place(owner, kind)


def expand_prefix(name: str, namespaces: dict[str, str]) -> str:
    """Return the name of a class with its prefix expanded (``cwltool:CUDARequirement``)."""
    prefix, colon, rest = name.partition(":")
    return namespaces[prefix] + rest if colon and prefix in namespaces else name


def remove_unknown_hints(owner: CommentedMap, namespaces: dict[str, str]) -> None:
    """Remove the hints that the loader does not know, and all extensions.

    Unknown hints have no effect. cwltool would warn of them, and other loaders look their names up
    on the network.
    """
    for kind in ("requirements", "hints"):
        collection = owner.get(kind)
        for entry in named_nodes(collection, "class"):
            name = expand_prefix(entry.name, namespaces)
            if (kind == "hints" and name not in _KNOWN_REQUIREMENTS) or name in KNOWN_EXTENSIONS:
                _remove(collection, entry)


def _remove(collection: Any, entry: NamedNode) -> None:
    if isinstance(collection, CommentedMap):
        del collection[entry.name]
        return
    index = next((index for index, item in enumerate(collection) if item is entry.body), None)
    if index is None:  # a bare name, which is an error elsewhere
        return
    places = collection.lc.data
    list.pop(collection, index)
    collection.lc.data = {
        position - (position > index): place
        for position, place in places.items()
        if position != index
    }


def javascript_requirement(step: Step, template: ParsedTemplate) -> list[dict[str, Any]]:
    """Return the JavaScript requirement for the step's own expressions, or an empty list.

    The requirements of the tool do not apply to them.
    """
    requirements = effective_requirements(
        (step.body, template.canonical.body), template.document.namespaces
    )
    requirement = requirements.get("InlineJavascriptRequirement")
    return (
        [plain_json(requirement.body) | {"class": requirement.name}]
        if requirement is not None and requirement.required
        else []
    )


def requirements_and_hints(
    applied_requirements: Requirements,
) -> tuple[list[CommentedMap], list[CommentedMap]]:
    """Return the requirements and hints for the tool's own document.

    Extensions become hints, which every loader accepts. ``cwltool:Secrets`` is left out, because
    the step's needs say which inputs are secrets.
    """
    requirements: list[CommentedMap] = []
    hints: list[CommentedMap] = []
    for requirement in applied_requirements.values():
        if requirement.name == SECRETS:
            continue
        body = requirement.body.copy()
        body.lc.data = dict(requirement.body.lc.data or {})
        name = requirement.name.replace(CWLTOOL_NAMESPACE, "cwltool:")
        put_at(body, "class", name, requirement.place)
        (
            requirements
            if requirement.required and requirement.name not in KNOWN_EXTENSIONS
            else hints
        ).append(body)
    return requirements, hints
