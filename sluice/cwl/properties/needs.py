"""The needs of each step's jobs, from CWL requirements and extension fields."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.states import DeviceType
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.needs import UNASKED_DISK, Container, Needs, Resources
from sluice.cwl.documents.workflow import Step, Workflow
from sluice.cwl.properties.containers import container_image
from sluice.cwl.properties.extension_reader import Fields
from sluice.cwl.properties.gpus import read_gpu_needs
from sluice.cwl.properties.requirements import (
    OLD_TIME_LIMIT,
    Requirement,
    Requirements,
    requirements_inside,
    requirements_of,
)
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import processes_inside
from sluice.text.visible_text import quoted

#: The largest amount of cores, MiB or seconds.
_MOST = 1_000_000_000


def read_needs(
    template: ParsedTemplate,
    workflow: Workflow,
    findings: Findings,
    *,
    secrets: Mapping[str, dict[str, SecretRef]],
    folders: Mapping[str, dict[str, str]],
    items: Mapping[str, list[str]],
) -> dict[str, Needs]:
    """Return the needs of each step that has a tool, by step.

    Args:
        template: The template.
        workflow: Its workflow.
        findings: Gets the errors.
        secrets: By step and tool port, the secret.
        folders: By step and tool port, the name of the folder.
        items: By step, the tool ports that get an item of a list.
    """
    return {
        step.name: _needs_of(step, template, findings, secrets.get(step.name, {})).model_copy(
            update={
                "folders": folders.get(step.name, {}),
                "items": items.get(step.name, []),
            }
        )
        for step in workflow.steps.values()
        if step.has_tool
    }


def _needs_of(
    step: Step, template: ParsedTemplate, findings: Findings, secrets: dict[str, SecretRef]
) -> Needs:
    """Return the needs of a step.

    An extension field that is a field of ``Needs`` is copied, from the step or else the workflow.
    """
    own = template.extensions.steps.get(step.name, Fields())
    if "ask" in own.places:  # people annotate, so no node is needed
        return Needs(ask=own.values.get("ask"))
    asked = {**template.extensions.workflow.values, **own.values}
    held, inner = requirements_of(step, template), requirements_inside(step, template)
    if secrets:
        asked["sandbox"] = True
    if _is_contained(step, held, inner):
        asked.pop("sandbox", None)
    gpu = read_gpu_needs(
        [held, *inner], asked.pop("gpu", None), own.places.get("gpu", step.place), findings
    )
    return Needs(
        resources=_resources(step, held, inner, findings),
        device_type=DeviceType.CPU if gpu is None else DeviceType.GPU,
        gpu=None if gpu == GpuNeeds() else gpu,
        container=_container(step, [held, *inner], findings),
        secrets=secrets,
        named=asked.pop("resources", {}),
        **{name: asked[name] for name in Needs.model_fields if name in asked},
    )


def _is_contained(step: Step, held: Requirements, inner: Sequence[Requirements]) -> bool:
    """Return whether every tool of the step must run in a container, which replaces a sandbox.

    It is False for tools that only the job knows (``sluice:invoke``).
    """
    processes = [(step.tool, held)]
    processes += zip((run for _, run in processes_inside(step.tool)), inner, strict=True)
    tools = [asked for process, asked in processes if process.get("class") == "CommandLineTool"]
    containers = [asked.get("DockerRequirement") for asked in tools]
    return bool(tools) and all(docker is not None and docker.required for docker in containers)


def _container(step: Step, tools: Sequence[Requirements], findings: Findings) -> Container | None:
    asked = [held["DockerRequirement"] for held in tools if "DockerRequirement" in held]
    found = [
        (
            docker,
            container_image(
                docker.body, docker.place, findings, step=step.name, required=docker.required
            ),
        )
        for docker in asked
    ]
    images = {image.name: image for _, image in found if image is not None}
    required = any(docker.required for docker, _ in found)
    if images and not required:
        findings.warning(
            asked[0].place,
            f"the container of step {quoted(step.name)} is a hint: on a node without Docker, Podman"
            " or the like its jobs run without, and need the tool installed there",
        )
    return Container(images=list(images.values()), required=required) if images else None


def _resources(
    step: Step, held: Requirements, inner: Sequence[Requirements], findings: Findings
) -> Resources:
    """Return the resources of a job: as much as the most demanding tool inside needs."""
    amounts = [_amounts(tool.get("ResourceRequirement"), findings) for tool in (held, *inner)]
    most = {
        name: max(asked[name] for asked in amounts if name in asked)
        for name in {name for asked in amounts for name in asked}
    }
    return Resources(**most | _time_limit(step, held, inner, findings))


def _amounts(requirement: Requirement | None, findings: Findings) -> dict[str, Any]:
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
        disk = math.ceil(sum(folders))
        # A request of exactly the default would count as no request.
        found["disk"] = disk + 1 if disk == UNASKED_DISK else disk
    return found


@dataclass(frozen=True, slots=True)
class _Amounts:
    requirement: Requirement
    findings: Findings

    def read(self, name: str) -> float | None:
        """Return the minimum, or the maximum if only that is given (CWL's rule)."""
        body = self.requirement.body
        for key in (f"{name}Min", f"{name}Max"):
            value = body.get(key)
            if value is None:
                continue
            if isinstance(value, str):
                self.findings.warning(
                    text_place(body, key),
                    f"{quoted(key)} is an expression, which only the job can work out: the default"
                    " is used",
                )
                return None
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            if value < 0 or (name == "cores" and value == 0):
                self.findings.error(
                    text_place(body, key), f"{quoted(key)} must be greater than 0, not {value}"
                )
                return None
            if value > _MOST:
                self.findings.error(
                    text_place(body, key), f"{quoted(key)} is {value}, more than any machine has"
                )
                return None
            return float(value)
        return None


def _time_limit(
    step: Step,
    held: Requirements,
    inner: Sequence[Requirements],
    findings: Findings,
) -> dict[str, Any]:
    """Return the time limit of a step, or nothing if there is none.

    A workflow without a limit has the sum of its tools' limits, if each tool has one.
    """
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
                f"step {quoted(step.name)} has no time limit (ToolTimeLimit): a job is stopped"
                f" after {default} s",
            )
        return {}
    seconds = _seconds(step, requirement, findings)
    return {} if seconds is None else {"time_limit": seconds}


def _limit_of(held: Requirements) -> Requirement | None:
    return held.get("ToolTimeLimit") or held.get(OLD_TIME_LIMIT)


def _seconds(step: Step, requirement: Requirement, findings: Findings) -> float | None:
    """Return the limit, or None if it is unknown before the job or wrong."""
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
            f"step {quoted(step.name)} may run without end: a tool that hangs keeps its pilot busy"
            " forever",
        )
    return float(limit)
