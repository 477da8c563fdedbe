"""Lists of values that a step scatters over, from a parameter or written at the step."""

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
from sluice.cwl.reading.findings import Findings
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


def _constant_problem(link: Link) -> str:
    if isinstance(link.body.get("default"), list):
        return ""
    if "valueFrom" in link.body:
        return (
            "whose 'valueFrom' is worked out in each job, of one item: give it a 'source', or a"
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
