"""Checks of scatters that do not pair files by number.

Such scatters count the entries, so none of the entries may be missing.
"""

from sluice.contracts.templates.scatters import unequal_lists
from sluice.cwl.checks.link_types import given_by, may_lack
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.numbering import Numbering
from sluice.cwl.documents.workflow import Step
from sluice.cwl.reading.findings import Findings, text_place
from sluice.text.visible_text import quoted


def check_scatters(flow: Dataflow, findings: Findings) -> None:
    """Report scatters by position, or over all combinations, whose entries may be missing."""
    numbering = Numbering(flow.workflow, flow.wiring)
    for step in flow.workflow.steps.values():
        items = flow.wiring.item_links.get(step.name)
        if step.crosses or items or numbering.by_place(step):
            _check_complete(step, flow, findings)
            _check_lengths(step, flow, findings)


def _check_complete(step: Step, flow: Dataflow, findings: Findings) -> None:
    together = "with each" if step.crosses else "by its place among all of them"
    for name in step.scatter:
        link = step.links[name]
        if flow.wiring.is_data(step.name, name) and may_lack(given_by(step, link, flow)):
            findings.error(
                link.source_place,
                f"step {quoted(step.name)} takes each of {quoted(name)} {together}, and some may be"
                " missing: write 'pickValue: all_non_null', which counts those that are there",
            )


def _check_lengths(step: Step, flow: Dataflow, findings: Findings) -> None:
    """Report lists of different lengths, as far as they are in the template."""
    if step.crosses:
        return
    written = {
        link.name: len(link.body["default"])
        for link in flow.wiring.item_links[step.name]
        if link.sources is None
    }
    trouble = unequal_lists(step.name, written)
    if trouble:
        findings.error(text_place(step.body, "scatter"), trouble)
