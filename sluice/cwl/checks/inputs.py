"""The inputs of the workflow: the data set, and parameters; and the types of all ports."""

from typing import Any

from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.dataflow.secondary_files import patterns_of
from sluice.cwl.documents.types import (
    ARRAY_OF_FILES,
    PRIMITIVES,
    holds_files,
    short_form,
    type_names,
    value_fits,
    without_null,
)
from sluice.cwl.documents.workflow import Port, Workflow
from sluice.cwl.features import INPUTS
from sluice.cwl.reading.findings import Findings, TextPlace, did_you_mean
from sluice.cwl.reading.nodes import plain_json


def check_input(port: Port, wiring: Wiring, findings: Findings) -> None:
    """Parameters are values, not files."""
    if port.name != wiring.data_input and "secondaryFiles" in port.body:
        findings.error(
            port.place_of("secondaryFiles"),
            f"secondaryFiles of the parameter '{port.name}' are not supported yet: "
            f"{INPUTS['secondaryFiles of a parameter'].note}",
        )
    if port.name == wiring.data_input:
        _check_secondary_patterns(port, findings)
        if port.body.get("default") is not None:
            findings.error(
                port.place_of("default"),
                f"'{port.name}' is the data set, and data sets come from the catalogue: it has no"
                " default",
            )
    elif port.name in wiring.file_inputs:
        if port.body.get("default") is not None:
            findings.error(
                port.place_of("default"),
                f"'{port.name}' is a file, and files come from the catalogue, not by default:"
                f" {INPUTS['default of a file'].note}",
            )
    elif holds_files(port.type) and short_form(without_null(port.type)) != "File[]":
        findings.error(
            port.place_of("type"),
            f"the parameter '{port.name}' is of type {short_form(port.type)}, which is not"
            f" supported: {INPUTS['Directory'].note}",
        )
    check_default(
        port.body.get("default"),
        port,
        findings,
        place=port.place_of("default"),
        subject=f"parameter '{port.name}'",
    )


def _check_secondary_patterns(port: Port, findings: Findings) -> None:
    """Whoever brings files in works no expression out, so patterns are plain."""
    if "secondaryFiles" not in port.body:
        return
    place = port.place_of("secondaryFiles")
    if without_null(port.type) != ARRAY_OF_FILES:
        findings.error(place, f"'{port.name}' is no File[]; files alone have secondaryFiles")
    elif None in patterns_of(port.body):
        findings.error(
            place,
            f"the secondaryFiles of '{port.name}' are looked for where the files are brought in,"
            " and no expression is worked out there:"
            f" {INPUTS['secondaryFiles of the data set by an expression'].note}",
        )


def check_default(
    value: Any, port: Port, findings: Findings, *, place: TextPlace, subject: str
) -> None:
    if value is not None and not value_fits(value, port.type):
        findings.error(
            place,
            f"the default of {subject} must be of type {short_form(port.type)}, not"
            f" {plain_json(value)!r}",
        )


def refuse_names_as_types(workflow: Workflow, findings: Findings) -> None:
    """A type that is the name of an input or a step is a name to the schema, and so escapes its
    check."""
    names = {*workflow.inputs, *workflow.outputs, *workflow.steps}
    ports = [*workflow.inputs.values()]
    for step in workflow.steps.values():
        names |= {*step.links, *step.outputs, *step.tool_inputs, *step.tool_outputs}
        ports += [*step.tool_inputs.values(), *step.tool_outputs.values()]
    for port in ports:
        for name in type_names(port.type) & names - PRIMITIVES:
            findings.error(
                port.place_of("type"), f"there is no type '{name}'{did_you_mean(name, PRIMITIVES)}"
            )
