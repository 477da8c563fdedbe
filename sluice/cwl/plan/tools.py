"""The documents that jobs run, each of which cwltool can load from one file."""

from dataclasses import dataclass
from typing import Any

from sluice.cwl.dataflow.hidden_lists import hides_list
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.versions import VERSIONS
from sluice.cwl.documents.workflow import Step
from sluice.cwl.features import CWLTOOL_NAMESPACE
from sluice.cwl.plan.formats import without_formats
from sluice.cwl.plan.process_versions import keep_file_versions, process_steps
from sluice.cwl.plan.step_workflows import workflow_features, wrap_in_workflow
from sluice.cwl.properties.requirements import (
    SECRETS,
    expand_prefix,
    javascript_requirement,
    requirements_and_hints,
    step_requirements,
)
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.nodes import plain_json


@dataclass(frozen=True, slots=True)
class ToolWriter:
    """Writes the document of each step."""

    template: ParsedTemplate
    wiring: Wiring

    def executable(self, step: Step) -> dict[str, Any]:
        """Return the step's tool, inside a workflow if the step has expressions or hides a list."""
        version, process = self.template.document.version, self._tool(step)
        if step.runs_as_workflow or hides_list(step, self.wiring):
            javascript = javascript_requirement(step, self.template)
            process = wrap_in_workflow(
                step, process, self.wiring, version=version, javascript=javascript
            )
        return keep_file_versions(process, version)

    def _tool(self, step: Step) -> dict[str, Any]:
        requirements, hints = requirements_and_hints(step_requirements(step, self.template))
        own_version = step.tool.get("cwlVersion")
        tool: dict[str, Any] = {
            "cwlVersion": own_version
            if own_version in VERSIONS
            else self.template.document.version,
            "class": step.tool["class"],
            "id": step.name,
        }
        if any(":" in hint["class"] for hint in hints):
            tool["$namespaces"] = {"cwltool": CWLTOOL_NAMESPACE}
        tool.update(
            (key, value)
            for key, value in plain_json(step.tool).items()
            if key not in {*tool, "requirements", "hints"}
        )
        if tool["class"] == "Workflow":
            requirements = [*requirements, *workflow_features()]
        if requirements:
            tool["requirements"] = plain_json(requirements)
        if hints:
            tool["hints"] = plain_json(hints)
        return _remove_secret_requirements(
            without_formats(tool, self.template.document.namespaces),
            self.template.document.namespaces,
        )


def _remove_secret_requirements(
    process: dict[str, Any], namespaces: dict[str, str]
) -> dict[str, Any]:
    """Remove ``cwltool:Secrets``, also inside: the step's needs say which inputs are secrets."""
    for owner in (process, *process_steps(process)):
        for kind in ("requirements", "hints"):
            requirements = owner.get(kind)
            if isinstance(requirements, dict):
                owner[kind] = {
                    name: body
                    for name, body in requirements.items()
                    if not _is_secret_requirement(name, namespaces)
                }
            elif isinstance(requirements, list):
                owner[kind] = [
                    body
                    for body in requirements
                    if not _is_secret_requirement(str(body.get("class")), namespaces)
                ]
    for step in process_steps(process):
        if isinstance(step.get("run"), dict):
            _remove_secret_requirements(step["run"], namespaces)
    return process


def _is_secret_requirement(name: str, namespaces: dict[str, str]) -> bool:
    return expand_prefix(name, namespaces) == SECRETS
