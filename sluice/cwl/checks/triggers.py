"""Checks of templates with triggers, and of outputs for append-only data sets."""

from sluice.contracts.data.append_only import Trigger
from sluice.contracts.templates.matching import holds
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.types import is_optional
from sluice.cwl.properties.match_fields import Match
from sluice.cwl.reading.findings import START, Findings, TextPlace
from sluice.text.visible_text import quoted


def check_trigger(flow: Dataflow, findings: Findings) -> None:
    """Report what keeps a trigger from starting the workflow without a person.

    The workflow needs data for its trigger, and each parameter needs a value.
    """
    match: Match = flow.extensions.workflow.values.get("match", Match())
    if match.trigger is None:
        return
    place = _trigger_place(flow, match.trigger)
    if flow.wiring.data_input is None:
        if match.trigger.every is not None:
            findings.error(
                place,
                "'sluice:match' has 'every', and no input of the workflow is a data set: leave it"
                " out, or let an input be a File[]",
            )
    elif not match.conditions:
        findings.error(
            place,
            "'sluice:match' does not name the append-only data set whose new files the workflow"
            " takes: add, for example, 'sluice:type: corpus' for the data set of outputs with"
            " 'sluice:collect: corpus'",
        )
    for name, port in flow.workflow.inputs.items():
        if name == flow.wiring.data_input or _has_binding(flow, name):
            continue
        if "default" not in port.body and not is_optional(port.type):
            findings.error(
                port.place,
                f"the parameter {quoted(name)} has no default: it gets no value when the"
                " workflow starts automatically",
            )


def _has_binding(flow: Dataflow, name: str) -> bool:
    bindings = flow.extensions.workflow.values.get("bind", {})
    return name in bindings or name in flow.secrets or name in flow.assets


def _trigger_place(flow: Dataflow, trigger: Trigger) -> TextPlace:
    key = "every" if trigger.every is not None else "schedule"
    return flow.extensions.workflow.inner.get(("match", key), START)


def warn_of_trigger_cycles(flow: Dataflow, findings: Findings) -> None:
    """Warn if the workflow writes to the append-only data set that triggers it."""
    match: Match = flow.extensions.workflow.values.get("match", Match())
    if match.trigger is None or not match.conditions:
        return
    for name in flow.workflow.outputs:
        target = flow.append_target(name)
        if target is None:
            continue
        facts = {"name": target.name, "type": target.type}
        if all(holds(condition, facts.get(key)) for key, condition in match.conditions.items()):
            findings.warning(
                flow.extensions.outputs[name].places["collect"],
                f"output {quoted(name)} is collected in the append-only data set that the workflow"
                " takes: the workflow would process its own output again and again",
            )
