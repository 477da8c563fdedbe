"""Steps that run once on single values: they read one entry, or none if nothing was given."""

from sluice.contracts.common.states import InputMode, TaskMode
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.merging import find_pick
from sluice.cwl.documents.types import is_optional, may_be_null
from sluice.cwl.documents.workflow import Link, SourcePort, Step, Workflow
from sluice.cwl.properties.extension_reader import Extensions


def merges_in_tree(step: str, extensions: Extensions) -> bool:
    """Return whether the step merges level by level."""
    return (
        step in extensions.steps
        and "merge" in extensions.steps[step].values
        and extensions.steps[step].values["merge"].tree
    )


def _merges_in_groups(step: str, extensions: Extensions) -> bool:
    """Return whether the step gives an entry for each group."""
    return (
        step in extensions.steps
        and "merge" in extensions.steps[step].values
        and not merges_in_tree(step, extensions)
    )


def find_grouped_merge(name: str | None, flow: Dataflow) -> str | None:
    """Return the grouped merge if the step gives one entry for each of its groups, else None."""
    wiring = flow.wiring
    while name is not None and not flow.workflow.steps[name].scatter:
        if _merges_in_groups(name, flow.extensions):
            return name
        if wiring.modes.get(name) is not TaskMode.MAP or name not in wiring.data_links:
            return None
        name = wiring.origins[name, wiring.data_links[name].name].step
    return None


def has_one_job(step: Step, flow: Dataflow) -> bool:
    """Return whether exactly one job must be requested for the step.

    The step runs on single values, and the value that makes its jobs may be missing. There is one
    job in any case if the value is always given or is chosen among several.
    """
    wiring = flow.wiring
    data = wiring.data_links.get(step.name)
    if data is None:
        return not step.scatter
    if (
        wiring.modes[step.name] is not TaskMode.MAP
        or data.name in step.scatter
        or find_pick(data) is not None
    ):
        return False
    if any(side.mode is not InputMode.ONE for side in wiring.side_links[step.name]):
        return False
    origin = wiring.origins[step.name, data.name]
    return (
        _may_give_nothing(origin, flow.workflow) and find_grouped_merge(origin.step, flow) is None
    )


def _may_give_nothing(origin: SourcePort, workflow: Workflow) -> bool:
    if origin.step is None:
        return True
    step = workflow.steps[origin.step]
    return step.conditional or may_be_null(step.tool_outputs[origin.port].type)


def may_be_missing(step: Step, link: Link) -> bool:
    """Return whether the step can run without the single value."""
    port = step.tool_inputs.get(link.name)
    has_default = port is not None and port.body.get("default") is not None
    return (
        is_optional(step.input_type(link.name))
        or has_default
        or step.conditional
        or "valueFrom" in link.body
    )
