"""The phases between a document and its plan, in order.

Each phase takes the results of earlier phases and adds its findings. There is a plan if no phase
found an error.
"""

from typing import Any

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import Plan
from sluice.cwl.checks.assets import check_assets
from sluice.cwl.checks.checkpoints import check_checkpoints
from sluice.cwl.checks.expressions import check_expressions
from sluice.cwl.checks.in_place import check_in_place
from sluice.cwl.checks.link_types import check_link_types
from sluice.cwl.checks.pairs import check_pairs
from sluice.cwl.checks.rules import check_rules
from sluice.cwl.checks.scatters import check_scatters
from sluice.cwl.checks.secrets import check_secrets
from sluice.cwl.checks.tool_fields import warn_of_tool_fields
from sluice.cwl.checks.tool_sizes import check_tool_sizes
from sluice.cwl.checks.type_depth import check_type_depth
from sluice.cwl.checks.warm_tools import check_warm_tools
from sluice.cwl.cwltool_checks.checks import check_with_cwltool
from sluice.cwl.dataflow.data_input import find_data_input
from sluice.cwl.dataflow.dataflow import read_dataflow
from sluice.cwl.dataflow.nested_sources import FlatteningError
from sluice.cwl.dataflow.nested_workflows import flatten, steps_to_flatten
from sluice.cwl.documents.canonical import make_canonical
from sluice.cwl.documents.document import find_process
from sluice.cwl.documents.single_step import wrap_in_single_step
from sluice.cwl.documents.workflow import read_workflow
from sluice.cwl.plan.assembly import assemble_plan
from sluice.cwl.properties.extension_reader import read_extensions, refuse_nested
from sluice.cwl.properties.needs import read_needs
from sluice.cwl.properties.requirements import check_requirement_names
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, TextPlace, TooManyErrors
from sluice.text.visible_text import quoted


def compile_document(
    root: Any, findings: Findings, *, name: str, process: str | None = None
) -> Plan | None:
    """Return the plan, or None after an error.

    ``process`` is the id of the process in a packed document. The default is its main process.

    If the steps of a workflow cannot be spread over data sets, the whole workflow runs inside one
    job, with a warning that says why. This does not hold for a workflow whose steps have extension
    fields, which apply to separate jobs. A tool is a workflow of one step.
    """
    if not check_type_depth(root, findings):
        return None
    template = _parse(root, findings, process=process)
    if template is None:
        return None
    spread = _copy(findings)
    plan = _plan_spread(template, spread, name=name)
    if plan is not None or findings.failed or _has_fields_of_steps(template):
        findings.include(spread)
        return plan
    whole = _copy(findings)
    plan = _plan_whole(template, whole, name=name)
    if plan is None:
        findings.include(spread if template.is_workflow else whole)
        return None
    findings.include(whole)
    if template.is_workflow:
        reason = spread.sorted()[0]
        findings.warning(
            _place_of(reason),
            f"the whole workflow runs inside one job, because of this: {reason.message}",
        )
    return plan


def _copy(findings: Findings) -> Findings:
    copy = Findings(findings.file)
    copy.include(findings)
    return copy


def _plan_spread(template: ParsedTemplate, findings: Findings, *, name: str) -> Plan | None:
    """Return a plan of the workflow's steps, or None after an error or for a tool.

    Steps of nested workflows become steps of the plan if possible. Otherwise such a workflow runs
    inside one job, with a warning.
    """
    if not template.is_workflow:
        return None
    try:
        return _plan_steps(template, findings, name=name)
    except TooManyErrors:
        return None


def _plan_whole(template: ParsedTemplate, findings: Findings, *, name: str) -> Plan | None:
    """Return a plan of one step that runs the whole process, or None after an error.

    The process must be valid for cwltool.
    """
    try:
        check_with_cwltool(template, findings)
        if findings.failed:
            return None
        is_matched = "match" in template.extensions.workflow.values
        workflow = wrap_in_single_step(template.document, template.canonical.body)
        wrapped = _parse(workflow, findings)
        if is_matched and wrapped is not None and not _takes_dataset(wrapped):
            workflow = wrap_in_single_step(template.document, template.canonical.body, scatter=True)
            wrapped = _parse(workflow, findings)
        return None if wrapped is None else _plan(wrapped, findings, name=name, is_valid=True)
    except TooManyErrors:
        return None


def _takes_dataset(template: ParsedTemplate) -> bool:
    workflow = read_workflow(template.canonical, Findings(""))
    return find_data_input(workflow, frozenset()) is not None


def _has_fields_of_steps(template: ParsedTemplate) -> bool:
    extensions = template.extensions
    steps = (*extensions.steps.values(), *extensions.nested.values())
    return template.is_workflow and any(fields.places for fields in steps)


def _plan_steps(template: ParsedTemplate, findings: Findings, *, name: str) -> Plan | None:
    nested = steps_to_flatten(template.canonical.body)
    if not nested or findings.failed:
        return _plan(template, findings, name=name)
    attempt = Findings(findings.file)
    attempt.include(findings)
    plan = _plan_flattened(template, attempt, name=name)
    if plan is not None:
        findings.include(attempt)
        return plan
    plan = _plan(template, findings, name=name)
    for step in nested if plan is not None else ():
        reason = next((finding.message for finding in attempt.sorted()), "")
        findings.warning(
            step.place,
            f"the workflow of step {quoted(step.name)} runs inside one job; as separate steps:"
            f" {reason}",
        )
    return plan


def _parse(root: Any, findings: Findings, *, process: str | None = None) -> ParsedTemplate | None:
    """Return the parsed template, or None if it cannot be checked further."""
    if root is None and findings.failed:
        return None
    document = find_process(root, findings, process)
    if document is None:
        return None
    extensions = read_extensions(document, findings)
    canonical = make_canonical(document, findings)
    if canonical.is_truncated or not check_tool_sizes(canonical.body, findings):
        return None
    return ParsedTemplate(document, canonical, canonical.body, extensions)


def _plan(
    template: ParsedTemplate, findings: Findings, *, name: str, is_valid: bool = False
) -> Plan | None:
    """Return the plan of a template, or None after an error.

    ``is_valid`` says that cwltool has checked the template.
    """
    refuse_nested(template.extensions, findings)
    flow = read_dataflow(template, findings)
    check_link_types(flow, findings, may_omit_nulls=_has_fields_of_steps(template))
    check_rules(flow, findings)
    check_requirement_names(template, findings)
    check_secrets(template, flow, findings)
    check_warm_tools(template, flow, findings)
    check_checkpoints(flow, findings)
    check_in_place(template, flow, findings)
    check_assets(flow, findings)
    needs = read_needs(
        template,
        flow.workflow,
        findings,
        secrets=flow.secrets_of_steps,
        folders=flow.folders_of_steps,
        items=flow.items_of_steps,
    )
    if not findings.failed:
        check_scatters(flow, findings)
        check_pairs(flow, findings)
    check_expressions(template.unflattened_document, findings)
    warn_of_tool_fields(template.unflattened_document, findings)
    if not is_valid:
        check_with_cwltool(template, findings)
    return None if findings.failed else assemble_plan(template, flow, needs, name=name)


def _place_of(finding: Finding) -> TextPlace:
    return TextPlace(finding.line or 1, finding.column or 1, finding.file)


def _plan_flattened(template: ParsedTemplate, findings: Findings, *, name: str) -> Plan | None:
    try:
        return _plan(flatten(template), findings, name=name)
    except FlatteningError as error:
        findings.error(error.place, f"{error}")
    except TooManyErrors:
        pass
    return None
