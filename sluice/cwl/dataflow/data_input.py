"""Which input of the workflow is the data set that chains are made of."""

from sluice.cwl.documents.types import (
    ARRAY_OF_DIRECTORIES,
    ARRAY_OF_FILES,
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
    files = [port for port in inputs if without_null(port.type) == ARRAY_OF_FILES]
    data = [*files, *(port for port in inputs if without_null(port.type) == ARRAY_OF_DIRECTORIES)]
    for number, port in enumerate(data):
        if is_optional(port.type):
            what = (
                "a data set that each chain is given" if number else "the data set and always given"
            )
            kind = short_form(without_null(port.type))
            findings.error(port.place_of("type"), f"'{port.name}' is {what}: its type is {kind}")
    return data[0].name if data else None
