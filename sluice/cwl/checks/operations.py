"""Checks of Operations, which are steps without a tool.

The input files of the step are invocations to run (``sluice:invoke``), or people annotate each file
(``sluice:ask``).
"""

from sluice.contracts.common.states import EntryKind
from sluice.contracts.human_tasks.ask import Ask
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.workflow import Step
from sluice.cwl.features import TOOL_REQUIREMENTS
from sluice.cwl.properties.extension_reader import Fields
from sluice.cwl.reading.findings import Findings, suggest_or_list
from sluice.cwl.reading.nodes import named_nodes
from sluice.text.visible_text import quoted

_INVOKE, _ASK = "invoke", "ask"

#: Requirements that describe a tool's needs. Types do not belong to them.
_NODE_REQUIREMENTS = frozenset({*TOOL_REQUIREMENTS, "CUDARequirement", "TimeLimit", "Secrets"}) - {
    "SchemaDefRequirement"
}
#: Fields of a step about how its jobs are made and how pilots run them.
_PILOT_FIELDS = (
    "batch",
    "checkpoint",
    "gpu",
    "merge",
    "nodes",
    "resources",
    "retry",
    "sandbox",
    "warm",
)


def check_operations(flow: Dataflow, findings: Findings) -> None:
    """Report Operations without ``sluice:invoke`` or ``sluice:ask``, and misuse of both fields."""
    for step in flow.workflow.steps.values():
        fields = flow.extensions.steps.get(step.name, Fields())
        is_operation = step.tool.get("class") == "Operation"
        if is_operation and not {_INVOKE, _ASK} & fields.places.keys():
            findings.error(
                step.field_place("run"),
                f"step {quoted(step.name)} runs an Operation, which does nothing: write a"
                " CommandLineTool, or 'sluice:ask' where people are asked about each file, or"
                " 'sluice:invoke: true' where the step's files are invocations",
            )
        elif not is_operation and step.has_tool:
            _refuse_operation_fields(step, fields, findings)
        elif {_INVOKE, _ASK} <= fields.places.keys():
            findings.error(
                fields.places[_INVOKE],
                f"step {quoted(step.name)} has 'sluice:ask' and 'sluice:invoke': either people do"
                " it, or its files say what is run",
            )
        elif _ASK in fields.places:
            _check_human_task(step, fields, flow, findings)
        elif _INVOKE in fields.values:
            _check_invocations(step, findings)


def _refuse_operation_fields(step: Step, fields: Fields, findings: Findings) -> None:
    reasons = {
        _INVOKE: "so its files say what is run",
        _ASK: "so people do it, and no tool",
    }
    for name, reason in reasons.items():
        if name in fields.places:
            findings.error(
                fields.places[name],
                f"step {quoted(step.name)} has 'sluice:{name}', {reason}: make its tool an"
                " Operation",
            )


def _check_invocations(step: Step, findings: Findings) -> None:
    input_types, output_types = (
        [port.type for port in step.tool_inputs.values()],
        [port.type for port in step.tool_outputs.values()],
    )
    if (
        (input_types, output_types) != (["File"], ["File"])
        or list(step.tool_inputs) != step.scatter
        or step.runs_as_workflow
    ):
        findings.error(
            step.field_place("run"),
            f"step {quoted(step.name)} carries out invocations: its Operation has one input, of"
            " type File, that the step scatters over, and one output, of type File; and the step"
            " has no expressions",
        )


def _check_human_task(step: Step, fields: Fields, flow: Dataflow, findings: Findings) -> None:
    for name in _PILOT_FIELDS:
        if name in fields.places:
            findings.error(
                fields.places[name],
                f"'sluice:{name}' is for jobs that pilots run; step {quoted(step.name)} is done by"
                " people ('sluice:ask')",
            )
    for owner in (step.tool, step.body):
        for requirement in named_nodes(owner.get("requirements"), "class"):
            if requirement.name.rpartition("#")[2].rpartition(":")[2] in _NODE_REQUIREMENTS:
                findings.error(
                    requirement.place,
                    f"{quoted(requirement.name)} is for tools; step {quoted(step.name)} is done by"
                    " people ('sluice:ask')",
                )
    ask = fields.values.get(_ASK)
    if not isinstance(ask, Ask):
        return
    if _has_gold(step, ask, fields, findings):
        _check_ports(step, ask, findings)
    for name in step.links:
        _refuse_bundles(step, name, flow, findings)


def _has_gold(step: Step, ask: Ask, fields: Fields, findings: Findings) -> bool:
    """Return whether ``gold`` names a suitable input, or no input at all."""
    if ask.gold is None:
        return True
    place, port = fields.inner.get((_ASK, "gold"), step.place), step.tool_inputs.get(ask.gold)
    if port is None:
        findings.error(
            place,
            f"'sluice:ask' gold: the Operation of step {quoted(step.name)} has no input"
            f" {quoted(ask.gold)}{suggest_or_list(ask.gold, step.tool_inputs)}",
        )
    elif ask.gold in step.scatter or port.type != "File":
        findings.error(
            place,
            f"'sluice:ask' gold: input {quoted(ask.gold)} of step {quoted(step.name)} gets one file"
            " for all that is asked: its type is File, and the step does not scatter over it",
        )
    else:
        return True
    return False


def _check_ports(step: Step, ask: Ask, findings: Findings) -> None:
    items = [port for port in step.tool_inputs if port != ask.gold]
    types = [port.type for port in (*step.tool_inputs.values(), *step.tool_outputs.values())]
    if (
        len(items) != 1
        or items != step.scatter
        or len(step.tool_outputs) != 1
        or any(kind != "File" for kind in types)
        or any("secondaryFiles" in port.body for port in step.tool_outputs.values())
        or step.runs_as_workflow
    ):
        findings.error(
            step.field_place("run"),
            f"step {quoted(step.name)} asks people about each file: its Operation has one input, of"
            " type File, that the step scatters over, one more for what 'gold' names, and one"
            " output, of type File; and the step has no expressions",
        )


def _refuse_bundles(step: Step, name: str, flow: Dataflow, findings: Findings) -> None:
    """Report inputs from bundles, because annotators can only be shown plain files."""
    origin = flow.wiring.origins.get((step.name, name))
    stream = None if origin is None else flow.wiring.streams.get(origin)
    if stream is not None and stream.kind is EntryKind.BUNDLE:
        findings.error(
            step.links[name].source_place,
            f"input {quoted(name)} of step {quoted(step.name)} gets files with secondary files, or"
            " directories; people are asked about plain files ('sluice:ask')",
        )
