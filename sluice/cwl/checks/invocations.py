"""Steps whose files say what is to be run: each is an invocation, a CWL process with its job order."""

from sluice.cwl.documents.workflow import Step, Workflow
from sluice.cwl.properties.extensions import Extensions, Fields
from sluice.cwl.reading.findings import Findings

FIELD = "invoke"


def check_invocations(workflow: Workflow, extensions: Extensions, findings: Findings) -> None:
    """``sluice:invoke`` stands where an Operation does, which has one File and gives one; no other
    step can run an Operation."""
    for step in workflow.steps.values():
        fields = extensions.steps.get(step.name, Fields())
        is_operation = step.tool.get("class") == "Operation"
        if is_operation and FIELD not in fields.values:
            findings.error(
                step.place_of("run"),
                f"step '{step.name}' runs an Operation, which does nothing: write a"
                " CommandLineTool, or 'sluice:invoke: true' where the step's files are"
                " invocations",
            )
        elif FIELD in fields.values and not is_operation:
            findings.error(
                fields.places[FIELD],
                f"step '{step.name}' has 'sluice:invoke', so its files say what is run: make its"
                " tool an Operation",
            )
        elif is_operation:
            _check_ports(step, findings)


def _check_ports(step: Step, findings: Findings) -> None:
    taken, given = (
        [port.type for port in step.tool_inputs.values()],
        [port.type for port in step.tool_outputs.values()],
    )
    if (
        (taken, given) != (["File"], ["File"])
        or list(step.tool_inputs) != step.scatter
        or step.contained
    ):
        findings.error(
            step.place_of("run"),
            f"step '{step.name}' carries out invocations: its Operation has one input, of type"
            " File, that the step scatters over, and one output, of type File; and the step has no"
            " expressions",
        )
