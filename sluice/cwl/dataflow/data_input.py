"""The data set that a workflow is given: which entries it has, and which files lie beside each."""

from sluice.contracts.plan import DataEntries
from sluice.cwl.dataflow.secondary_files import patterns_of
from sluice.cwl.documents.types import ARRAY_OF_FILES, without_null
from sluice.cwl.documents.workflow import Port
from sluice.cwl.features import INPUTS
from sluice.cwl.reading.findings import Findings


def check_first_input(port: Port, findings: Findings) -> None:
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


def data_entries(port: Port) -> DataEntries:
    """Of an input that has been checked."""
    return DataEntries(
        type="File" if without_null(port.type) == ARRAY_OF_FILES else "Directory",
        secondary_files=[pattern for pattern in patterns_of(port.body) if pattern is not None],
    )
