"""Tools that stay loaded (``sluice:warm``): what depends on the job reaches such a tool by a
request, or by what lies in its folders. Where something has to be there before the tool starts, it
is refused."""

from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.needs import Warm
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.hidden_lists import hides_list
from sluice.cwl.documents.workflow import Step
from sluice.cwl.properties.extension_reader import Fields
from sluice.cwl.properties.requirements import requirements_of
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, did_you_mean, text_place
from sluice.cwl.reading.nodes import mappings

_NAME = "warm"
#: Requirements, as hints too, that no tool has that stays loaded.
_REFUSED = {
    "ShellCommandRequirement": (
        "is run by a shell, whose line is made anew for each job: let its program be started"
        " directly, without ShellCommandRequirement"
    ),
    "InplaceUpdateRequirement": (
        "changes its inputs where they lie (InplaceUpdateRequirement): let it write what it changes"
        " to its own folder"
    ),
    "DockerRequirement": (
        "runs in a container, which is started for each job (DockerRequirement): let nodes have the"
        " program, or leave sluice:warm out"
    ),
}


def check_warm_tools(template: ParsedTemplate, flow: Dataflow, findings: Findings) -> None:
    for name, fields in flow.extensions.steps.items():
        warm, step = fields.values.get(_NAME), flow.workflow.steps.get(name)
        if isinstance(warm, Warm) and step is not None and step.has_tool:
            _Check(template, flow, findings, step, fields).all_of(warm)


@dataclass(frozen=True, slots=True)
class _Check:
    template: ParsedTemplate
    flow: Dataflow
    findings: Findings
    step: Step
    fields: Fields

    def all_of(self, warm: Warm) -> None:
        self._key(warm)
        if not self._process():
            return
        self._command_line()
        held = requirements_of(self.step, self.template)
        for name, why in _REFUSED.items():
            if name in held:
                self.findings.error(held[name].place, f"{self._tool} {why}")
        if "EnvVarRequirement" in held:
            self._environment(held["EnvVarRequirement"].body)

    @property
    def _tool(self) -> str:
        return f"the tool of step '{self.step.name}' stays loaded (sluice:warm), and"

    def _key(self, warm: Warm) -> None:
        place = self.fields.inner.get((_NAME, "key"), self.fields.places[_NAME])
        for name in warm.key:
            if name not in self.step.tool_inputs:
                hint = did_you_mean(name, self.step.tool_inputs)
                self.findings.error(
                    place,
                    f"the key of sluice:warm: the tool of step '{self.step.name}' has no input"
                    f" '{name}'{hint}",
                )

    def _process(self) -> bool:
        """Is it one that can stay loaded?"""
        step, place = self.step, self.fields.places[_NAME]
        kind = step.tool.get("class")
        if kind != "CommandLineTool":
            self.findings.error(
                place,
                f"step '{step.name}' runs a process of class {kind}; only a CommandLineTool stays"
                " loaded",
            )
        elif step.contained or (not self.findings.failed and hides_list(step, self.flow.wiring)):
            expressions = [
                text_place(owner, key)
                for owner in (step.body, *(link.body for link in step.links.values()))
                for key in ("when", "valueFrom")
                if key in owner
            ]
            why = (
                "the step has an expression ('when', 'valueFrom')"
                if expressions
                else "its type does not say whether it takes one file or all"
            )
            self.findings.error(
                next(iter(expressions), place),
                f"{self._tool} {why}, so that each job is a workflow of its own: say it in the"
                " tool (its inputs' types, the valueFrom of its arguments)",
            )
        else:
            return True
        return False

    def _command_line(self) -> None:
        tool = self.step.tool
        if not tool.get("baseCommand"):
            self.findings.error(
                self.step.place_of("run"),
                f"{self._tool} it has no baseCommand: that is what it is started with, and"
                " everything else comes with each job",
            )
        if "stdin" in tool:
            self.findings.error(
                text_place(tool, "stdin"),
                f"{self._tool} its standard input brings the requests: give it the file as an"
                " argument instead of stdin",
            )

    def _environment(self, requirement: CommentedMap) -> None:
        """It is there before the job is."""
        for node in mappings(requirement.get("envDef")):
            for key, value in node.items():
                if isinstance(value, str) and ("$(" in value or "${" in value):
                    self.findings.error(
                        text_place(node, key),
                        f"{self._tool} its environment depends on the job (EnvVarRequirement): give"
                        " it the value as an argument",
                    )
