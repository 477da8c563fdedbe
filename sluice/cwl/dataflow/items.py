"""What a step scatters over: its inputs, and lists of values among them."""

from collections.abc import Mapping

from sluice.cwl.documents.types import (
    array_of,
    is_list,
    is_optional,
    short_form,
    type_alternatives,
    without_null,
)
from sluice.cwl.documents.workflow import Link, Port, SourcePort, Step, StepInputName, Workflow
from sluice.cwl.features import SCATTER_METHODS
from sluice.cwl.reading.findings import Findings, suggest_or_list
from sluice.text.visible_text import quoted


def is_list_link(
    step: Step,
    link: Link,
    workflow: Workflow,
    *,
    origins: Mapping[StepInputName, SourcePort],
    findings: Findings,
) -> bool:
    """Return whether the link always brings a list, and report why not.

    Nothing is reported if the source of the link is wrong.
    """
    origin = origins.get((step.name, link.name))
    if origin is None and link.sources is not None:
        return False
    problem = (
        _constant_problem(link)
        if origin is None
        else _parameter_problem(workflow.inputs[origin.port])
    )
    if problem:
        findings.error(
            step.field_place("scatter"),
            f"step {quoted(step.name)} scatters over {quoted(link.name)}, {problem}",
        )
    return not problem


def is_valid_scatter(step: Step, findings: Findings) -> bool:
    """Return whether a step scatters over its inputs by a known method, and report why not."""
    for name in step.scatter:
        if name not in step.links:
            findings.error(
                step.field_place("scatter"),
                f"step {quoted(step.name)} scatters over {quoted(name)}, which is not among its"
                f" inputs{suggest_or_list(name, step.links)}",
            )
            return False
    method = step.body.get("scatterMethod")
    if len(step.scatter) > 1 and str(method) not in SCATTER_METHODS:
        unknown_method = "" if method is None else f"; there is no {quoted(str(method))}"
        findings.error(
            step.field_place("scatter" if method is None else "scatterMethod"),
            f"step {quoted(step.name)} scatters over several inputs: write 'scatterMethod:"
            " dotproduct', which pairs them by number, or 'flat_crossproduct', which takes each"
            f" with each{unknown_method}",
        )
        return False
    return True


def _constant_problem(link: Link) -> str:
    if isinstance(link.body.get("default"), list):
        return ""
    if "valueFrom" in link.body:
        return (
            "whose 'valueFrom' is evaluated in each job, for one item: give it a 'source', or a"
            " list as its 'default'"
        )
    return "which gets no list: give it a 'source', or a list as its 'default'"


def _parameter_problem(port: Port) -> str:
    kind = port.type
    if is_optional(kind) and port.body.get("default") is None:
        return (
            f"and parameter {quoted(port.name)} is {short_form(kind)}, which may have no value:"
            " leave the '?' out, or give it a default"
        )
    if not all(map(is_list, type_alternatives(without_null(kind)))):
        return (
            f"and parameter {quoted(port.name)} is {short_form(kind)}, which is not a list: make it"
            f" {short_form(array_of(kind))}, or leave the scatter out"
        )
    return ""
