"""Checks of the workflow's inputs (data sets and parameters) and of the types of all ports."""

from typing import Any

from sluice.cwl.dataflow.file_defaults import file_literal
from sluice.cwl.dataflow.links import Wiring
from sluice.cwl.documents.types import (
    ARRAY_OF_FILES,
    PRIMITIVES,
    short_form,
    type_names,
    value_fits,
    without_null,
)
from sluice.cwl.documents.workflow import Port, Workflow
from sluice.cwl.features import INPUTS
from sluice.cwl.reading.findings import Findings, suggest_or_list
from sluice.cwl.reading.nodes import mappings, plain_json
from sluice.text.visible_text import quoted


def check_input(port: Port, wiring: Wiring, findings: Findings) -> None:
    """Report an unsupported type, default or ``secondaryFiles`` of a workflow input."""
    is_bundle = port.name in wiring.bundle_inputs | wiring.bundle_lists
    if "secondaryFiles" in port.body and not is_bundle:
        _check_secondary_patterns(port, wiring, findings)
    if port.name in wiring.data_inputs and not (is_bundle and _has_plain_default(port)):
        _check_default_of_files(port, wiring, findings)
    if problem := find_default_problem(port, port.body.get("default")):
        findings.error(
            port.field_place("default"), f"the default of parameter {quoted(port.name)} {problem}"
        )


def _has_plain_default(port: Port) -> bool:
    default = port.body.get("default")
    return all(part.get("class") not in ("File", "Directory") for part in mappings(default))


def _check_default_of_files(port: Port, wiring: Wiring, findings: Findings) -> None:
    """Report a default of files, unless it is one file that travels as text with the template."""
    default, place = port.body.get("default"), port.field_place("default")
    if default is None:
        return
    if port.name == wiring.data_input:
        findings.error(
            place,
            f"{quoted(port.name)} is the data set, which comes from the catalogue: remove its"
            " default",
        )
    elif port.name in wiring.asset_inputs:
        findings.error(place, f"{quoted(port.name)} is bound to an asset: leave its default out")
    elif without_null(port.type) != "File" or "secondaryFiles" in port.body:
        findings.error(
            place,
            f"{quoted(port.name)} comes from the catalogue, and only a single file without"
            f" secondary files can be a default: {INPUTS['default of files or directories'].note}",
        )
    elif file_literal(port) is None:
        findings.error(
            place,
            f"the default of {quoted(port.name)} is not a file with its text: name a file that is"
            " uploaded with the template ('{class: File, location: words.txt}'), or give its"
            " text as 'contents'",
        )


def _check_secondary_patterns(port: Port, wiring: Wiring, findings: Findings) -> None:
    """Report ``secondaryFiles`` that are misplaced."""
    place = port.field_place("secondaryFiles")
    if port.name in wiring.asset_inputs:
        findings.error(
            place,
            f"{quoted(port.name)} is bound to an asset, whose files have no secondary files: make"
            " it a Directory, which contains all files",
        )
    elif without_null(port.type) not in ("File", ARRAY_OF_FILES):
        findings.error(
            place, f"{quoted(port.name)} is not a File or File[]; files alone have secondaryFiles"
        )


def find_default_problem(port: Port, value: Any) -> str:
    """Return why a default does not fit the type of a port, or an empty text if it fits."""
    if value is None or value_fits(value, port.type):
        return ""
    return f"must be of type {short_form(port.type)}, not {quoted(plain_json(value))}"


def refuse_names_as_types(workflow: Workflow, findings: Findings) -> None:
    """Report types that are names of ports or steps.

    The CWL schema accepts any name as a type, so its own check does not find them.
    """
    names = {*workflow.inputs, *workflow.outputs, *workflow.steps}
    ports = [*workflow.inputs.values()]
    for step in workflow.steps.values():
        names |= {*step.links, *step.outputs, *step.tool_inputs, *step.tool_outputs}
        ports += [*step.tool_inputs.values(), *step.tool_outputs.values()]
    for port in ports:
        for name in type_names(port.type) & names - PRIMITIVES:
            findings.error(
                port.field_place("type"),
                f"there is no type {quoted(name)}{suggest_or_list(name, PRIMITIVES)}",
            )
