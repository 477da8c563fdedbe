"""Checks of merges in groups (``sluice:merge``) and in levels (``tree`` in it).

A merge in groups writes several files, which not every downstream step can take. In a merge in
levels, jobs take the outputs of other jobs of the same step.
"""

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.contracts.templates.plan import Boundary
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.merging import find_pick
from sluice.cwl.dataflow.single_values import find_grouped_merge, merges_in_tree
from sluice.cwl.documents.types import (
    fit,
    is_optional,
    short_form,
)
from sluice.cwl.documents.workflow import SourcePort, Step
from sluice.cwl.properties.extension_reader import Extensions
from sluice.cwl.reading.findings import Findings
from sluice.text.visible_text import quoted


def check_shared_files(flow: Dataflow, findings: Findings) -> None:
    """Report grouped merges whose downstream steps need exactly one file.

    Downstream steps need one file for every job, or one list to scatter over. A grouped merge
    writes several.
    """
    workflow, wiring = flow.workflow, flow.wiring
    for (name, port), origin in wiring.origins.items():
        stream = wiring.streams.get(origin)
        is_list = stream is not None and stream.spread and port in workflow.steps[name].scatter
        merge = find_grouped_merge(origin.step, flow) if is_list else None
        place = workflow.steps[name].links[port].source_place
        if merge is not None and not findings.has_error_at(place):
            findings.error(
                place,
                f"step {quoted(name)} scatters over the list that {quoted(origin.step)} gives, and"
                f" there is one for each group of step {quoted(merge)}: leave 'sluice:merge' of"
                f" {quoted(merge)} out",
            )
    for name, sides in wiring.side_links.items():
        for side in sides:
            single = side.mode is InputMode.ONE and find_pick(side.link) is None
            source = wiring.origins[name, side.link.name].step
            merge = find_grouped_merge(source, flow) if single else None
            if merge is not None:
                findings.error(
                    side.link.source_place,
                    f"every job of step {quoted(name)} takes one file at {quoted(side.link.name)},"
                    f" and step {quoted(merge)} writes one for each group: leave 'sluice:merge' of"
                    f" {quoted(merge)} out",
                )


def check_merge_trees(flow: Dataflow, findings: Findings) -> None:
    """Report steps that cannot merge in a tree.

    Steps that are not merges are skipped: another check reports their groups.
    """
    for name, step in flow.workflow.steps.items():
        is_merge = flow.wiring.modes.get(name) is TaskMode.MERGE
        if is_merge and merges_in_tree(name, flow.extensions):
            obstacle = _obstacle(step, flow.wiring, flow.extensions)
            if obstacle:
                findings.error(
                    flow.extensions.steps[name].places["merge"],
                    f"step {quoted(name)} cannot merge in a tree: {obstacle}",
                )


def _obstacle(step: Step, wiring: Wiring, extensions: Extensions) -> str:
    if len(step.outputs) != 1:
        return (
            f"it has {len(step.outputs)} outputs, and what one of its jobs gives must be what"
            " another takes; leave the others out"
        )
    (port,) = step.outputs
    data, output = wiring.data_links[step.name], step.tool_outputs.get(port)
    if output is None:
        return ""
    input_type = step.input_type(data.name)
    item_type = (
        input_type["items"]
        if isinstance(input_type, dict) and input_type.get("type") == "array"
        else "Any"
    )
    stream, input_stream = (
        wiring.streams[SourcePort(step.name, port)],
        wiring.find_stream(step.name, data.name),
    )
    if step.conditional or is_optional(output.type):
        return "a job may give nothing"
    if (
        fit(output.type, item_type) == "does not fit"
        or stream.spread
        or input_stream is None
        or stream.kind is not input_stream.kind
    ):
        return (
            f"its output {quoted(port)} is {short_form(output.type)}, and its input"
            f" {quoted(data.name)} takes {short_form(input_type)}"
        )
    if extensions.steps[step.name].values.get("boundary", Boundary()) != Boundary():
        return "every job must succeed; leave 'sluice:boundary' out"
    return ""
