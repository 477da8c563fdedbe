"""Check of tools on warm workers (``sluice:warm``).

Such a tool gets what depends on the job by a request, or in its folders. Requirements that must
hold before the tool starts are errors.
"""

from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.jobs.needs import Warm
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.hidden_lists import hides_list
from sluice.cwl.documents.workflow import Step
from sluice.cwl.properties.extension_reader import Fields
from sluice.cwl.properties.requirements import step_requirements
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, suggest_or_list, text_place
from sluice.cwl.reading.nodes import mappings
from sluice.text.visible_text import quoted
from sluice.tools.warm_rules import (
    ENVIRONMENT,
    NO_COMMAND,
    STDIN,
    UNSUPPORTED_REQUIREMENTS,
    is_expression,
)

_NAME = "warm"


def check_warm_tools(template: ParsedTemplate, flow: Dataflow, findings: Findings) -> None:
    """Report steps with ``sluice:warm`` whose tools cannot stay loaded."""
    for name, fields in flow.extensions.steps.items():
        warm, step = fields.values.get(_NAME), flow.workflow.steps.get(name)
        if isinstance(warm, Warm) and step is not None and step.has_tool:
            _WarmToolChecker(template, flow, findings, step, fields).check(warm)


@dataclass(frozen=True, slots=True)
class _WarmToolChecker:
    template: ParsedTemplate
    flow: Dataflow
    findings: Findings
    step: Step
    fields: Fields

    def check(self, warm: Warm) -> None:
        if "invoke" in self.fields.values:
            return  # only the input files say which tools the step runs
        if "ask" in self.fields.places:
            return  # check_operations reports this
        self._check_key(warm)
        if not self._can_stay_loaded():
            return
        self._check_command_line()
        requirements = step_requirements(self.step, self.template)
        for name, reason in UNSUPPORTED_REQUIREMENTS.items():
            if name in requirements:
                self.findings.error(requirements[name].place, f"{self._tool_phrase} {reason}")
        if "EnvVarRequirement" in requirements:
            self._check_environment(requirements["EnvVarRequirement"].body)

    @property
    def _tool_phrase(self) -> str:
        return f"the tool of step {quoted(self.step.name)} stays loaded (sluice:warm), and"

    def _check_key(self, warm: Warm) -> None:
        place = self.fields.inner.get((_NAME, "key"), self.fields.places[_NAME])
        for name in warm.key:
            if name not in self.step.tool_inputs:
                hint = suggest_or_list(name, self.step.tool_inputs)
                self.findings.error(
                    place,
                    f"the key of sluice:warm: the tool of step {quoted(self.step.name)} has no"
                    f" input {quoted(name)}{hint}",
                )

    def _can_stay_loaded(self) -> bool:
        """Return whether the process can stay loaded, and report why not."""
        step, place = self.step, self.fields.places[_NAME]
        kind = step.tool.get("class")
        if kind != "CommandLineTool":
            self.findings.error(
                place,
                f"step {quoted(step.name)} runs a process of class {kind}; only a CommandLineTool"
                " stays loaded",
            )
        elif step.runs_as_workflow or (
            not self.findings.failed and hides_list(step, self.flow.wiring)
        ):
            expressions = [
                text_place(owner, key)
                for owner in (step.body, *(link.body for link in step.links.values()))
                for key in ("when", "valueFrom")
                if key in owner
            ]
            reason = (
                "the step has an expression ('when', 'valueFrom')"
                if expressions
                else "its type does not say whether it takes one file or all"
            )
            self.findings.error(
                next(iter(expressions), place),
                f"{self._tool_phrase} {reason}, so that each job is a separate workflow: move this"
                " to the tool (its inputs' types, the valueFrom of its arguments)",
            )
        else:
            return True
        return False

    def _check_command_line(self) -> None:
        tool = self.step.tool
        if not tool.get("baseCommand"):
            self.findings.error(self.step.field_place("run"), f"{self._tool_phrase} {NO_COMMAND}")
        if "stdin" in tool:
            self.findings.error(text_place(tool, "stdin"), f"{self._tool_phrase} {STDIN}")

    def _check_environment(self, requirement: CommentedMap) -> None:
        """Report environment variables with expressions: the environment exists before the job."""
        for node in mappings(requirement.get("envDef")):
            for key, value in node.items():
                if is_expression(value):
                    self.findings.error(text_place(node, key), f"{self._tool_phrase} {ENVIRONMENT}")
