"""Check of ``sluice:checkpoint``.

Pilots keep files of the folder of one tool, so each job must run one tool in one folder.
"""

from ruamel.yaml.comments import CommentedMap

from sluice.contracts.jobs.checkpoints import Checkpoint
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.hidden_lists import hides_list
from sluice.cwl.documents.workflow import Step
from sluice.cwl.properties.extension_reader import Fields
from sluice.cwl.reading.findings import Findings
from sluice.text.visible_text import quoted

_NAME = "checkpoint"


def check_checkpoints(flow: Dataflow, findings: Findings) -> None:
    """Report steps with ``sluice:checkpoint`` whose jobs cannot keep checkpoints."""
    for name, fields in flow.extensions.steps.items():
        step = flow.workflow.steps.get(name)
        if not isinstance(fields.values.get(_NAME), Checkpoint) or step is None:
            continue
        if step.has_tool and (obstacle := _obstacle(step, fields, flow, findings)):
            findings.error(
                fields.places[_NAME],
                f"step {quoted(name)} cannot keep checkpoints (sluice:checkpoint): {obstacle}",
            )


def _obstacle(step: Step, fields: Fields, flow: Dataflow, findings: Findings) -> str:
    """Return why the step cannot keep checkpoints, or an empty text if it can."""
    if "batch" in fields.values:
        return (
            "a batch runs its tool for one file after the other in one job; leave 'sluice:batch'"
            " out"
        )
    if "invoke" in fields.values:
        return ""
    kind = step.tool.get("class")
    if kind != "CommandLineTool":
        return f"it runs a process of class {kind}; only a CommandLineTool has its own folder"
    if step.runs_as_workflow or (not findings.failed and hides_list(step, flow.wiring)):
        reason = (
            "it has an expression ('when', 'valueFrom')"
            if _has_expression(step)
            else "its type does not say whether it takes one file or all"
        )
        return (
            f"{reason}, so that each job is a separate workflow: move this to the tool (its inputs'"
            " types, the valueFrom of its arguments)"
        )
    return ""


def _has_expression(step: Step) -> bool:
    bodies: list[CommentedMap] = [step.body, *(link.body for link in step.links.values())]
    return any(key in body for body in bodies for key in ("when", "valueFrom"))
