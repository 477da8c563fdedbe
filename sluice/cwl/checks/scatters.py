"""Checks of scatters over lists in lists, and of those that do not pair files by number.

The latter count the entries, so none of the entries may be missing.
"""

from sluice.contracts.templates.scatters import unequal_lists
from sluice.cwl.checks.link_types import find_link_type, may_have_nulls
from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.numbering import Numbering
from sluice.cwl.documents.workflow import Step
from sluice.cwl.features import NESTED, SCATTER_METHODS
from sluice.cwl.reading.findings import Findings, text_place
from sluice.text.visible_text import quoted


def check_nested_crossproducts(flow: Dataflow, findings: Findings) -> None:
    """Report steps whose outputs are lists in lists, which data sets do not have."""
    for step in flow.workflow.steps.values():
        if step.depth > 1:
            findings.error(
                text_place(step.body, "scatterMethod"),
                f"step {quoted(step.name)} gives lists in lists ({NESTED}), and the entries of a"
                f" data set are one list: {SCATTER_METHODS[NESTED].note}",
            )


def check_scatters(flow: Dataflow, findings: Findings) -> None:
    """Report scatters by position, or over all combinations, whose entries may be missing."""
    numbering = Numbering(flow.workflow, flow.wiring)
    for step in flow.workflow.steps.values():
        items = flow.wiring.item_links.get(step.name)
        if step.is_crossproduct or items or numbering.pairs_by_position(step):
            _check_complete(step, flow, findings)
            _check_lengths(step, flow, findings)


def _check_complete(step: Step, flow: Dataflow, findings: Findings) -> None:
    pairing = "with each" if step.is_crossproduct else "by its place among all of them"
    for name in step.scatter:
        link = step.links[name]
        if flow.wiring.is_data(step.name, name) and may_have_nulls(
            find_link_type(step, link, flow)
        ):
            findings.error(
                link.source_place,
                f"step {quoted(step.name)} takes each of {quoted(name)} {pairing}, and some may be"
                " missing: write 'pickValue: all_non_null', which counts those that are there",
            )


def _check_lengths(step: Step, flow: Dataflow, findings: Findings) -> None:
    """Report lists of different lengths, as far as they are in the template."""
    if step.is_crossproduct:
        return
    lengths = {
        link.name: len(link.body["default"])
        for link in flow.wiring.item_links[step.name]
        if link.sources is None
    }
    problem = unequal_lists(step.name, lengths)
    if problem:
        findings.error(text_place(step.body, "scatter"), problem)
