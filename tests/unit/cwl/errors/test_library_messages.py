"""Conversion of the messages of CWL libraries into findings."""

from sluice.cwl.cwltool_checks.messages import report_text
from sluice.cwl.reading.findings import Findings


def test_place_at_the_beginning_of_a_message_is_read() -> None:
    findings = Findings("main.cwl")
    report_text("  tool.cwl:3:5: it is wrong", findings)
    [finding] = findings.sorted()
    assert (finding.file, finding.line, finding.column) == ("tool.cwl", 3, 5)
    assert finding.message == "it is wrong"


def test_message_with_a_million_blanks_is_read_in_linear_time() -> None:
    """A search that starts again at each blank would take hours."""
    findings = Findings("main.cwl")
    report_text(f"{' ' * 2**20}end", findings)
    [finding] = findings.sorted()
    assert finding.message == "end"
