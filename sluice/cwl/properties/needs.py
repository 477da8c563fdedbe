"""The needs of each step's jobs, from CWL requirements and extension fields."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.contracts.access.secrets import SecretRef
from sluice.contracts.common.states import DeviceType
from sluice.contracts.jobs.checkpoints import (
    FINISHED_STEPS,
    FINISHED_STEPS_EVERY,
    Checkpoint,
)
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
    list_inner_requirements,
    step_requirements,
)
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, text_place
from sluice.cwl.reading.nodes import processes_inside
from sluice.text.visible_text import quoted

#: The largest amount of cores, MiB or seconds.
_MAX_AMOUNT = 1_000_000_000


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
        secrets: The secrets by step and tool port.
        folders: The names of folders by step and tool port.
        items: The tool ports that get an item of a list, by step.
    """
    return {
        step.name: _step_needs(step, template, findings, secrets.get(step.name, {})).model_copy(
            update={
                "folders": folders.get(step.name, {}),
                "items": items.get(step.name, []),
            }
        )
        for step in workflow.steps.values()
        if step.has_tool
    }


def _step_needs(
    step: Step, template: ParsedTemplate, findings: Findings, secrets: dict[str, SecretRef]
) -> Needs:
    """Return the needs of a step.

    An extension field that is a field of ``Needs`` is copied, from the step or else the workflow.
    """
    step_fields = template.extensions.steps.get(step.name, Fields())
    if "ask" in step_fields.places:  # people annotate, so no node is needed
        return Needs(ask=step_fields.values.get("ask"))
    fields = {**template.extensions.workflow.values, **step_fields.values}
    requirements = step_requirements(step, template)
    inner_requirements = list_inner_requirements(step, template)
    if secrets:
        fields["sandbox"] = True
    if _requires_containers(step, requirements, inner_requirements):
        fields.pop("sandbox", None)
    if not {"checkpoint", "batch"} & fields.keys() and not secrets and _runs_several_tools(step):
        fields["checkpoint"] = Checkpoint(files=[FINISHED_STEPS], every=FINISHED_STEPS_EVERY)
    gpu = read_gpu_needs(
        [requirements, *inner_requirements],
        fields.pop("gpu", None),
        step_fields.places.get("gpu", step.place),
        findings,
    )
    return Needs(
        resources=_resources(step, requirements, inner_requirements, findings),
        device_type=DeviceType.CPU if gpu is None else DeviceType.GPU,
        gpu=None if gpu == GpuNeeds() else gpu,
        container=_container(step, [requirements, *inner_requirements], findings),
        secrets=secrets,
        named=fields.pop("resources", {}),
        **{name: fields[name] for name in Needs.model_fields if name in fields},
    )


def _runs_several_tools(step: Step) -> bool:
    """Return whether a job of the step runs several tools, so that it may finish some of them."""
    processes = list(processes_inside(step.tool))
    tools = [process for _, process in processes if process.get("class") == "CommandLineTool"]
    scatters = [body for body, _ in processes if "scatter" in body]
    return len(tools) + len(scatters) > 1


def _requires_containers(
    step: Step, requirements: Requirements, inner_requirements: Sequence[Requirements]
) -> bool:
    """Return whether every tool of the step must run in a container, which replaces a sandbox.

    It is False for tools that only the job knows (``sluice:invoke``).
    """
    processes = [(step.tool, requirements)]
    processes += zip(
        (run for _, run in processes_inside(step.tool)), inner_requirements, strict=True
    )
    tools = [
        tool_requirements
        for process, tool_requirements in processes
        if process.get("class") == "CommandLineTool"
    ]
    containers = [tool_requirements.get("DockerRequirement") for tool_requirements in tools]
    return bool(tools) and all(docker is not None and docker.required for docker in containers)


def _container(step: Step, tools: Sequence[Requirements], findings: Findings) -> Container | None:
    docker_requirements = [
        requirements["DockerRequirement"]
        for requirements in tools
        if "DockerRequirement" in requirements
    ]
    containers = [
        (
            docker,
            container_image(
                docker.body, docker.place, findings, step=step.name, required=docker.required
            ),
        )
        for docker in docker_requirements
    ]
    images = {image.name: image for _, image in containers if image is not None}
    required = any(docker.required for docker, _ in containers)
    if images and not required:
        findings.warning(
            docker_requirements[0].place,
            f"the container of step {quoted(step.name)} is a hint: on a node without Docker, Podman"
            " or the like its jobs run without a container, and need the tool installed there",
        )
    return Container(images=list(images.values()), required=required) if images else None


def _resources(
    step: Step,
    requirements: Requirements,
    inner_requirements: Sequence[Requirements],
    findings: Findings,
) -> Resources:
    """Return the resources of a job, which are the largest amounts that its tools need."""
    amounts = [
        _amounts(tool.get("ResourceRequirement"), findings)
        for tool in (requirements, *inner_requirements)
    ]
    max_amounts = {
        name: max(tool_amounts[name] for tool_amounts in amounts if name in tool_amounts)
        for name in {name for tool_amounts in amounts for name in tool_amounts}
    }
    return Resources(**max_amounts | _time_limit(step, requirements, inner_requirements, findings))


def _amounts(requirement: Requirement | None, findings: Findings) -> dict[str, Any]:
    if requirement is None:
        return {}
    amounts = _Amounts(requirement, findings)
    resources: dict[str, Any] = {}
    cores, ram = amounts.read("cores"), amounts.read("ram")
    folders = [
        size for size in (amounts.read("tmpdir"), amounts.read("outdir")) if size is not None
    ]
    if cores is not None and cores > 0:
        resources["cores"] = cores
    if ram is not None:
        resources["ram"] = math.ceil(ram)
    if folders:
        disk = math.ceil(sum(folders))
        # A request of exactly the default would count as no request.
        resources["disk"] = disk + 1 if disk == UNASKED_DISK else disk
    return resources


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
                    f"{quoted(key)} is an expression, which only the job can evaluate: the node is"
                    " chosen by the default",
                )
                return None
            if isinstance(value, bool) or not isinstance(value, int | float):
                return None
            if value < 0 or (name == "cores" and value == 0):
                self.findings.error(
                    text_place(body, key), f"{quoted(key)} must be greater than 0, not {value}"
                )
                return None
            if value > _MAX_AMOUNT:
                self.findings.error(
                    text_place(body, key), f"{quoted(key)} is {value}, more than any machine has"
                )
                return None
            return float(value)
        return None


def _time_limit(
    step: Step,
    requirements: Requirements,
    inner_requirements: Sequence[Requirements],
    findings: Findings,
) -> dict[str, Any]:
    """Return the time limit of a step, or nothing if there is none.

    A workflow without a limit has the sum of its tools' limits, if each tool has one. Limits do not
    apply to an ``ExpressionTool``, as in cwltool.
    """
    if step.tool.get("class") == "ExpressionTool":
        return {}
    requirement = _limit_requirement(requirements)
    if (
        requirement is None
        and inner_requirements
        and all(map(_limit_requirement, inner_requirements))
    ):
        limits = [
            _seconds(step, limit, findings)
            for limit in map(_limit_requirement, inner_requirements)
            if limit is not None
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


def _limit_requirement(requirements: Requirements) -> Requirement | None:
    return requirements.get("ToolTimeLimit") or requirements.get(OLD_TIME_LIMIT)


def _seconds(step: Step, requirement: Requirement, findings: Findings) -> float | None:
    """Return the limit, or None if it is wrong. That of an expression is set in the job."""
    limit, place = requirement.body.get("timelimit"), text_place(requirement.body, "timelimit")
    if isinstance(limit, str):
        return 0.0
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        return None
    if limit < 0 or limit > _MAX_AMOUNT:
        findings.error(
            place, f"a time limit is 0 (none) or greater, at most {_MAX_AMOUNT} s, not {limit}"
        )
        return None
    if limit == 0:
        findings.warning(
            place,
            f"step {quoted(step.name)} may run without end: a tool that hangs keeps its pilot busy"
            " forever",
        )
    return float(limit)
