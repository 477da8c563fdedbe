"""Tools on warm workers, as steps or tools ask for them (``sluice:warm``).

Invocations of a tool with the same values at its ``key`` share a process, also across runs.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cwltool.command_line_tool import CommandLineTool
from cwltool.errors import UnsupportedRequirement
from cwltool.process import Process, shortname
from cwltool.workflow import Workflow, WorkflowStep
from pydantic import ValidationError
from schema_salad.exceptions import ValidationException

from sluice.contracts.common.wording import validation_sentence
from sluice.contracts.jobs.needs import Warm
from sluice.cwl_runner.checkpoints import read_checkpoint
from sluice.cwl_runner.template import InvocationNeeds
from sluice.text.sentences import lower_first
from sluice.text.visible_text import quoted
from sluice.tools.warm_rules import (
    ENVIRONMENT,
    NO_COMMAND,
    STDIN,
    UNSUPPORTED_REQUIREMENTS,
    is_expression,
)

#: The namespace of the field in loaded documents, and of inner keys that have the prefix.
_NAMESPACE = "urn:sluice:cwl:"
_FIELD = f"{_NAMESPACE}warm"
_NAME = "sluice:warm"


class WarmWorkflow(Workflow):  # type: ignore[misc] # cwltool's types are not followed
    """A workflow whose steps override what their tools say about themselves."""

    def make_workflow_step(self, toolpath_object: Any, *args: Any, **kwargs: Any) -> WorkflowStep:
        """Create a step and apply its warm worker and checkpoint to its tool.

        Raises:
            ValidationException: The step has one of them and runs no CommandLineTool.
        """
        step = super().make_workflow_step(toolpath_object, *args, **kwargs)
        name, tool = f"step {quoted(shortname(step.id))}", step.embedded_tool
        warm, checkpoint = read_warm(step.tool, name), read_checkpoint(step.tool, name)
        if isinstance(tool, CommandLineTool):
            if warm is not None or step.tool.get(_FIELD) is False:
                tool.warm = warm
            tool.checkpoint = checkpoint or tool.checkpoint
        elif checkpoint is not None:
            raise ValidationException(
                f"{name} runs a process of class {tool.tool['class']}; checkpoints are kept of a"
                " CommandLineTool alone (sluice:checkpoint)"
            )
        elif warm is not None:
            raise ValidationException(
                f"{name} runs a process of class {tool.tool['class']}; only a CommandLineTool stays"
                f" loaded ({_NAME})"
            )
        return step


def read_warm(node: Mapping[str, Any], owner: str) -> Warm | None:
    """Return the warm worker that a step or tool asks for, or None.

    Args:
        node: The loaded step or tool.
        owner: The name of the step or tool in messages.

    Raises:
        ValidationException: The field is invalid.
    """
    if _NAME in node:
        raise ValidationException(
            f"{owner}: the prefix 'sluice' is not declared: add '$namespaces: {{sluice:"
            f' "{_NAMESPACE}"}}\' to the document'
        )
    value = node.get(_FIELD)
    if value is None or isinstance(value, bool):
        return Warm() if value else None
    usage = f"{owner}: '{_NAME}' is true, or a mapping with key, idle and jobs"
    if not isinstance(value, Mapping):
        raise ValidationException(f"{usage}, not {quoted(value)}")
    fields = {str(key).removeprefix(_NAMESPACE): inner for key, inner in value.items()}
    if unknown_fields := fields.keys() - {"key", "idle", "jobs"}:
        raise ValidationException(f"{usage}; it has no field {quoted(min(unknown_fields))}")
    try:
        return Warm.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        message = lower_first(validation_sentence(problem))
        raise ValidationException(
            f"{owner}: '{_NAME}' {problem['loc'][0]}: {message}, not {quoted(problem['input'])}"
        ) from error


def check_warm_tool(process: Process) -> None:
    """Check that a tool can run on the warm worker that it asks for.

    Raises:
        UnsupportedRequirement: The tool needs something of the job before it starts.
    """
    warm = getattr(process, "warm", None)
    if warm is None:
        return
    tool, name = process.tool, shortname(process.tool["id"])
    inputs = {shortname(port["id"]) for port in tool["inputs"]}
    for key in warm.key:
        if key not in inputs:
            raise UnsupportedRequirement(f"the key of {_NAME}: {name} has no input {quoted(key)}")
    for obstacle in _obstacles(process):
        raise UnsupportedRequirement(f"{name} stays loaded ({_NAME}), and {obstacle}")


def _obstacles(process: Process) -> list[str]:
    obstacles = [
        obstacle
        for requirement, obstacle in UNSUPPORTED_REQUIREMENTS.items()
        if process.get_requirement(requirement)[0]
    ]
    if not process.tool.get("baseCommand"):
        obstacles.append(NO_COMMAND)
    if process.tool.get("stdin"):
        obstacles.append(STDIN)
    environment, _ = process.get_requirement("EnvVarRequirement")
    if any(
        is_expression(variable["envValue"]) for variable in (environment or {}).get("envDef", ())
    ):
        obstacles.append(ENVIRONMENT)
    return obstacles


def add_warm_worker(
    warm: Warm | None, needs: InvocationNeeds, invocation: Mapping[str, Any]
) -> InvocationNeeds:
    """Return ``needs`` with the warm worker, equal for all invocations that share a process.

    The files of the invocation are still local ones.
    """
    if warm is None:
        return needs
    key_values = {name: invocation["order"].get(name) for name in warm.key}
    process_text = json.dumps(
        [invocation["process"], key_values], sort_keys=True, default=str
    ).encode()
    fields = warm.model_dump(exclude={"kind"})
    return replace(
        needs, warm=json.dumps(fields), loads=hashlib.sha256(process_text).hexdigest()[:16]
    )
