"""The input of the workflow that is the data set of a chain."""

from sluice.cwl.documents.types import (
    ARRAY_OF_DIRECTORIES,
    ARRAY_OF_FILES,
    is_optional,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Workflow
from sluice.cwl.reading.findings import Findings
from sluice.text.visible_text import quoted


def find_data_input(workflow: Workflow, findings: Findings, assets: frozenset[str]) -> str | None:
    """Return the first File[] input, else the first Directory[] input, else None.

    Such inputs must not be optional, which is reported.

    Args:
        workflow: The workflow.
        findings: Gets the errors.
        assets: The inputs that are bound to assets, and so are not data sets.
    """
    inputs = [port for port in workflow.inputs.values() if port.name not in assets]
    files = [port for port in inputs if without_null(port.type) == ARRAY_OF_FILES]
    data = [*files, *(port for port in inputs if without_null(port.type) == ARRAY_OF_DIRECTORIES)]
    for number, port in enumerate(data):
        if is_optional(port.type):
            role = (
                "a data set that each chain is given" if number else "the data set and always given"
            )
            required_type = short_form(without_null(port.type))
            findings.error(
                port.field_place("type"),
                f"{quoted(port.name)} is {role}: its type is {required_type}",
            )
    return data[0].name if data else None
