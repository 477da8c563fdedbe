"""All checks of what Sluice does not support over data sets, and of what each step must have."""

from sluice.cwl.checks.extension_rules import (
    check_bound_parameters,
    check_fields_of_steps,
    check_fields_without_data,
    check_required_parameters,
)
from sluice.cwl.checks.inputs import check_input, refuse_names_as_types
from sluice.cwl.checks.merge_groups import check_merge_trees, check_shared_files
from sluice.cwl.checks.nested_scatters import warn_of_nested_scatters
from sluice.cwl.checks.operations import check_operations
from sluice.cwl.checks.outputs import check_outputs_of_workflow, warn_of_unused
from sluice.cwl.checks.scatters import check_nested_crossproducts
from sluice.cwl.checks.steps import (
    check_link,
    check_outputs,
    check_ports,
    check_required_features,
    check_secondary_files,
)
from sluice.cwl.checks.triggers import check_trigger, warn_of_trigger_cycles
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.single_values import merges_in_tree
from sluice.cwl.reading.findings import Findings


def check_rules(flow: Dataflow, findings: Findings) -> None:
    """Run all rules on the dataflow of a template."""
    for port in flow.workflow.inputs.values():
        check_input(port, flow.wiring, findings)
    for step in flow.workflow.steps.values():
        for link in step.links.values():
            check_link(step, link, flow, findings)
        if step.for_output is None:
            check_required_features(step, flow.workflow, findings)
        if step.has_tool:
            check_ports(step, findings)
            check_outputs(step, findings, in_tree=merges_in_tree(step.name, flow.extensions))
    check_nested_crossproducts(flow, findings)
    check_secondary_files(flow, findings)
    refuse_names_as_types(flow.workflow, findings)
    check_bound_parameters(flow, findings)
    check_required_parameters(flow, findings)
    check_fields_without_data(flow, findings)
    check_trigger(flow, findings)
    check_fields_of_steps(flow, findings)
    check_operations(flow, findings)
    check_shared_files(flow, findings)
    check_merge_trees(flow, findings)
    check_outputs_of_workflow(flow, findings)
    warn_of_unused(flow, findings)
    warn_of_trigger_cycles(flow, findings)
    warn_of_nested_scatters(flow, findings)
