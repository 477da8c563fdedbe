"""Check that steps pair the same files of several data sets as other runners do."""

from collections.abc import Sequence

from sluice.cwl.dataflow.dataflow import Dataflow
from sluice.cwl.dataflow.numbering import MAX_DATA_SETS, Numbering
from sluice.cwl.documents.workflow import Step
from sluice.cwl.reading.findings import Findings, text_place
from sluice.text.visible_text import quoted


def check_pairs(flow: Dataflow, findings: Findings) -> None:
    """Report pairs of files that other runners would pair differently.

    Sluice pairs files by number and other runners pair them by position, so both must agree.
    """
    numbering = Numbering(flow.workflow, flow.wiring)
    for name, step in flow.workflow.steps.items():
        data = [link for link in step.scatter if flow.wiring.is_data(name, link)]
        for link in data:
            if len(numbering.lineage(name, link)) > MAX_DATA_SETS:
                findings.error(
                    step.field_place("scatter"),
                    f"step {quoted(name)} scatters over more than {MAX_DATA_SETS} data sets",
                )
                break
        if step.is_crossproduct or not data or numbering.pairs_by_position(step):
            continue
        first, *others = data
        for other in others:
            mismatch = _describe_mismatch(step, first, other, numbering)
            if mismatch:
                findings.error(
                    step.links[other].source_place,
                    f"step {quoted(name)} takes files of the same number {mismatch}",
                )
        if len({numbering.lineage(name, link) for link in data}) == 1:
            _check_filters(step, data, numbering, findings)


def _describe_mismatch(step: Step, first: str, other: str, numbering: Numbering) -> str:
    lineage, others = (numbering.lineage(step.name, link) for link in (first, other))
    if lineage == others:
        return ""
    if len(lineage) == len(others) == 1:
        spread = next((name for name in (*others, *lineage) if not name.startswith("/")), "")
        return (
            f"of {quoted(first)} and {quoted(other)} together, but these have different numbers:"
            f" the list that step {quoted(spread)} writes is numbered separately. Let one step"
            " write both as lists (of the same length, in the same order), or give one of them"
            " whole to every job"
        )
    return (
        f"of {quoted(first)} and {quoted(other)} together, but these do not consist of the same"
        " data sets in the same order: give both the sources of the same steps, or pair them in a"
        " step for each source"
    )


def _check_filters(
    step: Step, data: Sequence[str], numbering: Numbering, findings: Findings
) -> None:
    """Report pairs of inputs from which different files were left out.

    One side may leave out more files than the other. Then no file was left out when the workflow
    ran, or other runners refuse the lists because their lengths differ.
    """
    filters = {link: numbering.filters(step, step.links[link]) for link in data}
    for number, other in enumerate(data):
        for first in data[:number]:
            if all(
                first_filters <= other_filters or other_filters <= first_filters
                for first_filters, other_filters in zip(filters[first], filters[other], strict=True)
            ):
                continue
            body = step.links[other].body
            findings.error(
                (
                    text_place(body, "pickValue")
                    if "pickValue" in body
                    else step.links[other].source_place
                ),
                f"step {quoted(step.name)} takes {quoted(first)} and {quoted(other)} together, of"
                " which different files were left out by 'all_non_null': other runners pair what is"
                " left by position, so that files of different numbers meet. Leave 'pickValue' out"
                " and let the tool take File?, or let one step filter both",
            )
            break
