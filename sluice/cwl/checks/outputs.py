"""Checks of the workflow's outputs, and of ports that nothing uses."""

from collections.abc import Mapping
from typing import Any

from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.documents.types import (
    contains_files,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Port, Step
from sluice.cwl.reading.findings import Findings, text_place
from sluice.text.visible_text import quoted


def check_outputs_of_workflow(flow: Dataflow, findings: Findings) -> None:
    """Warn of a workflow without outputs, and report a data set with two output names."""
    if not flow.workflow.outputs:
        findings.warning(
            text_place(flow.workflow.body, "outputs"),
            "the workflow has no outputs, so nothing but logs is kept",
        )
    names: dict[Any, str] = {}
    for name, origin in flow.wiring.outputs.items():
        if origin in names:
            place = flow.workflow.outputs[name].source_place
            findings.error(
                place,
                f"outputs {quoted(names[origin])} and {quoted(name)} are the same data set"
                f" ({origin.step}/{origin.port}): give it one name",
            )
        names.setdefault(origin, name)


def warn_of_unused(flow: Dataflow, findings: Findings) -> None:
    """Warn of unused parameters and outputs, and of slow bindings of file lists.

    They are valid, but usually mistakes.
    """
    workflow, wiring = flow.workflow, flow.wiring
    sources = [origin for _, _, origin in wiring.all_sources()]
    used_parameters = {origin.port for origin in sources if origin.step is None}
    for port in workflow.inputs.values():
        if port.name not in used_parameters and port.name != wiring.data_input:
            findings.warning(port.place, f"the parameter {quoted(port.name)} is never used")
    used_outputs = {(origin.step, origin.port) for origin in [*sources, *wiring.outputs.values()]}
    for step in workflow.steps.values():
        for name, place in step.outputs.items():
            if (step.name, name) not in used_outputs:
                findings.warning(
                    place,
                    f"output {quoted(name)} of step {quoted(step.name)} is never used: its files"
                    " are written and deleted",
                )
    for step in workflow.steps.values():
        for port in step.tool_inputs.values():
            _warn_of_slow_binding(step, port, findings)


def _warn_of_slow_binding(step: Step, port: Port, findings: Findings) -> None:
    binding = port.body.get("inputBinding")
    if (
        isinstance(binding, Mapping)
        and contains_files(port.type)
        and short_form(without_null(port.type)) == "File[]"
    ):
        findings.warning(
            port.field_place("inputBinding"),
            f"{quoted(port.name)} of step {quoted(step.name)} is a File[] with an inputBinding,"
            " which takes minutes for thousands of files: write 'arguments:"
            f" [$(inputs.{port.name})]' instead",
        )
