"""Merges in levels (``tree`` in ``sluice:merge``): what one job gives, another of the same step can
take."""

from sluice.contracts.plan import Boundary
from sluice.contracts.states import TaskMode
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.types import fit, is_optional, short_form
from sluice.cwl.documents.workflow import SourcePort, Step, Workflow
from sluice.cwl.properties.extensions import Extensions
from sluice.cwl.reading.findings import Findings


def is_tree(extensions: Extensions, step: str) -> bool:
    return (
        step in extensions.steps
        and "merge" in extensions.steps[step].values
        and extensions.steps[step].values["merge"].tree
    )


def check_trees(
    workflow: Workflow, wiring: Wiring, extensions: Extensions, findings: Findings
) -> None:
    """Only where the step's mode is known; a map has no groups, which is told elsewhere."""
    for name, step in workflow.steps.items():
        if is_tree(extensions, name) and wiring.modes.get(name) is TaskMode.MERGE:
            trouble = _trouble(step, wiring, extensions)
            if trouble:
                findings.error(
                    extensions.steps[name].places["merge"],
                    f"step '{name}' cannot merge in a tree: {trouble}",
                )


def _trouble(step: Step, wiring: Wiring, extensions: Extensions) -> str:
    if len(step.outputs) != 1:
        return (
            f"it has {len(step.outputs)} outputs, and what one of its jobs gives must be what"
            " another takes; leave the others out"
        )
    (port,) = step.outputs
    data, given = wiring.data_links[step.name], step.tool_outputs.get(port)
    if given is None:
        return ""
    taken = step.input_type(data.name)
    items = taken["items"] if isinstance(taken, dict) and taken.get("type") == "array" else "Any"
    stream, read = (
        wiring.streams[SourcePort(step.name, port)],
        wiring.stream_of(step.name, data.name),
    )
    if step.conditional or is_optional(given.type):
        return "a job may give nothing"
    if (
        fit(given.type, items) == "does not fit"
        or stream.spread
        or read is None
        or stream.kind is not read.kind
    ):
        return (
            f"its output '{port}' is {short_form(given.type)}, and its input '{data.name}' takes"
            f" {short_form(taken)}"
        )
    if extensions.steps[step.name].values.get("boundary", Boundary()) != Boundary():
        return "every job must succeed; leave 'sluice:boundary' out"
    return ""
