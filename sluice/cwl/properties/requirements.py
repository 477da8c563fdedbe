"""What a step's jobs need: CWL's requirements and hints of tool, step and workflow, put together by
CWL's rule of precedence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from sluice.contracts.plan import Container, Resources
from sluice.contracts.states import DeviceType
from sluice.cwl.documents.document import Document
from sluice.cwl.documents.workflow import Step, Workflow
from sluice.cwl.features import (
    CWLTOOL_NAMESPACE,
    OF_CWLTOOL,
    OF_TOOLS,
    OF_WORKFLOWS,
    SINCE_V1_1,
    refused_features,
)
from sluice.cwl.properties.containers import container_image
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean, text_place
from sluice.cwl.reading.nodes import NamedNode, named_nodes, plain_json, processes_inside, put_at

_CUDA, _OLD_TIME_LIMIT = (f"{CWLTOOL_NAMESPACE}{name}" for name in ("CUDARequirement", "TimeLimit"))
#: Extensions of cwltool that are carried out; its schema does not know them, so they are kept out
#: of its way.
KNOWN_EXTENSIONS = (_CUDA, _OLD_TIME_LIMIT)
_REFUSED_EXTENSIONS = {
    CWLTOOL_NAMESPACE + name: OF_CWLTOOL[name] for name in refused_features(OF_CWLTOOL)
}
_KNOWN = frozenset({*OF_TOOLS, *OF_WORKFLOWS})

#: Cores, MiB or seconds.
_MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Requirement:
    name: str
    body: CommentedMap
    place: TextPlace
    #: False for a hint.
    required: bool


@dataclass(frozen=True, slots=True)
class Needs:
    """``requirements``: those that hold for the tool, one of each class."""

    requirements: list[Requirement]
    resources: Resources
    device_type: DeviceType
    container: Container | None


def check_requirement_names(template: ParsedTemplate, findings: Findings) -> None:
    """Every requirement must be known; a hint that is not is left aside, with a warning."""
    workflow = template.canonical.body
    _check_names(workflow, template.document, findings)
    for step, process in processes_inside(workflow):
        _check_names(step, template.document, findings)
        _check_names(process, template.document, findings)


def _check_names(owner: CommentedMap, document: Document, findings: Findings) -> None:
    for kind in ("requirements", "hints"):
        if kind in owner and owner[kind] is None:
            findings.error(text_place(owner, kind), f"'{kind}' is empty: leave it out")
        for entry in named_nodes(owner.get(kind), "class"):
            name = expanded(entry.name, document.namespaces)
            if entry.body is None and isinstance(owner[kind], CommentedSeq):
                findings.error(
                    entry.place,
                    f"a bare name is no item of '{kind}': write '- class: {entry.name[:80]}'",
                )
            elif name in KNOWN_EXTENSIONS:
                continue
            elif name in _REFUSED_EXTENSIONS:
                findings.error(
                    entry.place,
                    f"'{entry.name}' is not supported, as a hint neither:"
                    f" {_REFUSED_EXTENSIONS[name].note}",
                )
            elif kind == "hints" and name not in _KNOWN:
                findings.warning(
                    entry.place, f"the hint '{entry.name}' is not known here, and has no effect"
                )
            elif name not in _KNOWN:
                findings.error(
                    entry.place,
                    f"the requirement '{entry.name}' is not supported{did_you_mean(name, _KNOWN)}",
                )
            elif kind == "requirements" and name in refused_features(OF_TOOLS):
                findings.error(
                    entry.place,
                    f"'{name}' is not supported as a requirement: {OF_TOOLS[name].note}",
                )
            elif kind == "requirements" and name in SINCE_V1_1 and document.version == "v1.0":
                findings.error(
                    entry.place, f"'{name}' is not part of CWL v1.0: write 'cwlVersion: v1.2'"
                )


def read_needs(
    template: ParsedTemplate, workflow: Workflow, findings: Findings
) -> dict[str, Needs]:
    """By the name of the step, of each that has a tool."""
    return {
        step.name: _needs_of(step, workflow.body, template.document, findings)
        for step in workflow.steps.values()
        if step.has_tool
    }


def _needs_of(step: Step, workflow: CommentedMap, document: Document, findings: Findings) -> Needs:
    """Of a step that runs a workflow, one job needs as much as the tool in it that needs most."""
    held = _effective((step.tool, step.body, workflow), document.namespaces)
    inner = [
        _effective((tool, body), document.namespaces) for body, tool in processes_inside(step.tool)
    ]
    container = _container(
        step,
        [one["DockerRequirement"] for one in (held, *inner) if "DockerRequirement" in one],
        findings,
    )
    amounts = [_resources(one.get("ResourceRequirement"), findings) for one in (held, *inner)]
    resources = {
        key: max(one[key] for one in amounts if key in one)
        for key in {key for one in amounts for key in one}
    }
    device = DeviceType.GPU if any(_CUDA in one for one in (held, *inner)) else DeviceType.CPU
    return Needs(
        list(held.values()),
        Resources(**resources | _time_limit(step, held, inner, findings)),
        device,
        container,
    )


def _container(step: Step, asked: Sequence[Requirement], findings: Findings) -> Container | None:
    """``asked``: the DockerRequirements of the tools that one job runs."""
    found = [
        (one, container_image(one.body, one.place, findings, step=step.name, required=one.required))
        for one in asked
    ]
    images = {image.name: image for _, image in found if image is not None}
    required = any(one.required for one, _ in found)
    if images and not required:
        findings.warning(
            asked[0].place,
            f"the container of step '{step.name}' is a hint: on a node without Docker, Podman or"
            " the like its jobs run without, and need the tool installed there",
        )
    return Container(images=list(images.values()), required=required) if images else None


def _effective(
    owners: Sequence[CommentedMap], namespaces: dict[str, str]
) -> dict[str, Requirement]:
    """Any requirement goes before any hint; of each kind the tool's before the step's before the
    workflow's (``owners``)."""
    held: dict[str, Requirement] = {}
    for kind in ("requirements", "hints"):
        for owner in owners:
            for entry in named_nodes(owner.get(kind), "class"):
                name = expanded(entry.name, namespaces)
                known = name in OF_TOOLS or name in KNOWN_EXTENSIONS
                if known and name not in held and entry.body is not None:
                    held[name] = Requirement(
                        name, entry.body, _place(owner, kind, entry), kind == "requirements"
                    )
    return held


def _place(owner: CommentedMap, kind: str, entry: NamedNode) -> TextPlace:
    return entry.place if owner.get(kind) else text_place(owner, kind)


def expanded(name: str, namespaces: dict[str, str]) -> str:
    """``cwltool:CUDARequirement`` with its prefix written out."""
    prefix, colon, rest = name.partition(":")
    return namespaces[prefix] + rest if colon and prefix in namespaces else name


def remove_unknown_hints(owner: CommentedMap, namespaces: dict[str, str]) -> None:
    """Keeps only those hints of a document for the loader that it knows, and no extension among the
    requirements.

    An unknown hint means nothing to anybody, and cwltool would warn of it; other loaders look its
    name up on the network.
    """
    for kind in ("requirements", "hints"):
        collection = owner.get(kind)
        for entry in named_nodes(collection, "class"):
            name = expanded(entry.name, namespaces)
            if (kind == "hints" and name not in _KNOWN) or name in KNOWN_EXTENSIONS:
                _remove(collection, entry)


def _remove(collection: Any, entry: NamedNode) -> None:
    if isinstance(collection, CommentedMap):
        del collection[entry.name]
        return
    index = next((index for index, item in enumerate(collection) if item is entry.body), None)
    if index is None:  # a bare name, which is an error
        return
    places = collection.lc.data
    list.pop(collection, index)
    collection.lc.data = {
        position - (position > index): place
        for position, place in places.items()
        if position != index
    }


def _resources(requirement: Requirement | None, findings: Findings) -> dict[str, Any]:
    if requirement is None:
        return {}
    amounts = _Amounts(requirement, findings)
    found: dict[str, Any] = {}
    cores, ram = amounts.read("cores"), amounts.read("ram")
    folders = [
        size for size in (amounts.read("tmpdir"), amounts.read("outdir")) if size is not None
    ]
    if cores is not None and cores > 0:
        found["cores"] = cores
    if ram is not None:
        found["ram"] = math.ceil(ram)
    if folders:
        found["disk"] = math.ceil(sum(folders))
    return found


@dataclass(frozen=True, slots=True)
class _Amounts:
    requirement: Requirement
    findings: Findings

    def read(self, name: str) -> float | None:
        """The least amount, or the most where only that is given (CWL's rule)."""
        body = self.requirement.body
        for key in (f"{name}Min", f"{name}Max"):
            value = body.get(key)
            if value is None:
                continue
            if isinstance(value, str):
                self.findings.warning(
                    text_place(body, key),
                    f"'{key}' is an expression, which only the job can work out: the default is"
                    " used",
                )
                return None
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            if value < 0 or (name == "cores" and value == 0):
                self.findings.error(
                    text_place(body, key), f"'{key}' must be greater than 0, not {value}"
                )
                return None
            if value > _MOST:
                self.findings.error(
                    text_place(body, key), f"'{key}' is {value}, more than any machine has"
                )
                return None
            return float(value)
        return None


def _time_limit(
    step: Step,
    held: dict[str, Requirement],
    inner: Sequence[dict[str, Requirement]],
    findings: Findings,
) -> dict[str, Any]:
    """Of a workflow that has none itself, the sum of its tools', where each has one."""
    requirement = _limit_of(held)
    if requirement is None and inner and all(map(_limit_of, inner)):
        limits = [
            _seconds(step, limit, findings) for limit in map(_limit_of, inner) if limit is not None
        ]
        if None in limits:
            return {}
        return {"time_limit": sum(filter(None, limits)) if all(limits) else 0.0}
    if requirement is None or requirement.body.get("timelimit") is None:
        default = int(Resources().time_limit)
        if step.for_output is None:
            findings.warning(
                step.place,
                f"step '{step.name}' has no time limit (ToolTimeLimit): a job is stopped after"
                f" {default} s",
            )
        return {}
    seconds = _seconds(step, requirement, findings)
    return {} if seconds is None else {"time_limit": seconds}


def _limit_of(held: dict[str, Requirement]) -> Requirement | None:
    return held.get("ToolTimeLimit") or held.get(_OLD_TIME_LIMIT)


def _seconds(step: Step, requirement: Requirement, findings: Findings) -> float | None:
    """None where it cannot be known before the job."""
    limit, place = requirement.body.get("timelimit"), text_place(requirement.body, "timelimit")
    if isinstance(limit, str):
        default = int(Resources().time_limit)
        findings.warning(
            place,
            "the time limit is an expression, which only the job can work out: a job is stopped"
            f" after {default} s",
        )
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        return None
    if limit < 0 or limit > _MOST:
        findings.error(
            place, f"a time limit is 0 (none) or greater, at most {_MOST} s, not {limit}"
        )
        return None
    if limit == 0:
        findings.warning(
            place,
            f"step '{step.name}' may run without end: a tool that hangs keeps its pilot busy for"
            " ever",
        )
    return float(limit)


def javascript_requirement(step: Step, template: ParsedTemplate) -> list[dict[str, Any]]:
    """The requirement with which the step's own expressions are worked out, if there is one: the
    tool has no say in that."""
    held = _effective((step.body, template.canonical.body), template.document.namespaces)
    found = held.get("InlineJavascriptRequirement")
    return (
        [plain_json(found.body) | {"class": found.name}]
        if found is not None and found.required
        else []
    )


def requirements_and_hints(needs: Needs) -> tuple[list[CommentedMap], list[CommentedMap]]:
    """Requirements and hints for the tool's own document. Extensions stand among the hints, where
    every loader takes them."""
    requirements: list[CommentedMap] = []
    hints: list[CommentedMap] = []
    for requirement in needs.requirements:
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
