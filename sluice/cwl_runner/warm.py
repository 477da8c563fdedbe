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

from sluice.contracts.common.wording import sentence_of
from sluice.contracts.jobs.needs import Warm
from sluice.cwl_runner.checkpoints import checkpoint_of
from sluice.cwl_runner.template import InvocationNeeds
from sluice.text.visible_text import quoted
from sluice.tools.warm_rules import ENVIRONMENT, NO_COMMAND, REFUSED, STDIN, is_worked_out

#: The namespace of the field in loaded documents, and of inner keys that have the prefix.
_NAMESPACE = "urn:sluice:cwl:"
_FIELD = f"{_NAMESPACE}warm"
_NAME = "sluice:warm"


class WarmWorkflow(Workflow):  # type: ignore[misc] # cwltool's types are not followed
    """A workflow whose steps override what their tools say about themselves."""

    def make_workflow_step(self, toolpath_object: Any, *given: Any, **named: Any) -> WorkflowStep:
        """Create a step and apply its warm worker and checkpoint to its tool.

        Raises:
            ValidationException: The step has one of them and runs no CommandLineTool.
        """
        step = super().make_workflow_step(toolpath_object, *given, **named)
        name, tool = f"step {quoted(shortname(step.id))}", step.embedded_tool
        warm, checkpoint = warm_of(step.tool, name), checkpoint_of(step.tool, name)
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


def warm_of(written: Mapping[str, Any], owner: str) -> Warm | None:
    """Return the warm worker that a step or tool asks for, or None.

    Args:
        written: The loaded step or tool.
        owner: Its name in messages.

    Raises:
        ValidationException: The field is invalid.
    """
    if _NAME in written:
        raise ValidationException(
            f"{owner}: the prefix 'sluice' is not declared: add '$namespaces: {{sluice:"
            f' "{_NAMESPACE}"}}\' to the document'
        )
    value = written.get(_FIELD)
    if value is None or isinstance(value, bool):
        return Warm() if value else None
    wrong = f"{owner}: '{_NAME}' is true, or a mapping with key, idle and jobs"
    if not isinstance(value, Mapping):
        raise ValidationException(f"{wrong}, not {quoted(value)}")
    given = {str(key).removeprefix(_NAMESPACE): inner for key, inner in value.items()}
    if unknown := given.keys() - {"key", "idle", "jobs"}:
        raise ValidationException(f"{wrong}; it knows no {quoted(min(unknown))}")
    try:
        return Warm.model_validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        said = sentence_of(first)
        raise ValidationException(
            f"{owner}: '{_NAME}' {first['loc'][0]}: {said[0].lower()}{said[1:]},"
            f" not {quoted(first['input'])}"
        ) from error


def refuse_what_cannot_stay(process: Process) -> None:
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
    for why in _obstacles(process):
        raise UnsupportedRequirement(f"{name} stays loaded ({_NAME}), and {why}")


def _obstacles(process: Process) -> list[str]:
    found = [why for asked, why in REFUSED.items() if process.get_requirement(asked)[0]]
    if not process.tool.get("baseCommand"):
        found.append(NO_COMMAND)
    if process.tool.get("stdin"):
        found.append(STDIN)
    environment, _ = process.get_requirement("EnvVarRequirement")
    if any(is_worked_out(one["envValue"]) for one in (environment or {}).get("envDef", ())):
        found.append(ENVIRONMENT)
    return found


def staying(
    warm: Warm | None, needs: InvocationNeeds, invocation: Mapping[str, Any]
) -> InvocationNeeds:
    """Return ``needs`` with the warm worker, equal for all invocations that share a process.

    The files of the invocation are still local ones.
    """
    if warm is None:
        return needs
    loaded = {name: invocation["order"].get(name) for name in warm.key}
    told = json.dumps([invocation["process"], loaded], sort_keys=True, default=str).encode()
    fields = warm.model_dump(exclude={"kind"})
    return replace(needs, warm=json.dumps(fields), loads=hashlib.sha256(told).hexdigest()[:16])
