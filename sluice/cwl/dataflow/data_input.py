"""Which input of the workflow is the data set that chains are made of."""

from sluice.cwl.documents.types import (
    ARRAY_OF_FILES,
    array_of,
    is_optional,
    short_form,
    without_null,
)
from sluice.cwl.documents.workflow import Workflow
from sluice.cwl.reading.findings import Findings


def find_data_input(workflow: Workflow, findings: Findings, assets: frozenset[str]) -> str | None:
    """The first File[], else the first Directory[]; ``assets``: inputs that are bound to one, and
    no data set. None: all inputs are parameters. Tells of those that may not be given."""
    inputs = [port for port in workflow.inputs.values() if port.name not in assets]
    data = [port for port in inputs if without_null(port.type) == ARRAY_OF_FILES]
    data = data or [port for port in inputs if without_null(port.type) == array_of("Directory")][:1]
    for port in data[1:]:
        if is_optional(port.type):
            findings.error(
                port.place_of("type"),
                f"'{port.name}' is a data set that each chain is given: its type is File[]",
            )
    if not data:
        return None
    if is_optional(data[0].type):
        kind = short_form(without_null(data[0].type))
        findings.error(
            data[0].place_of("type"),
            f"'{data[0].name}' is the data set and always given: its type is {kind}",
        )
    return data[0].name
