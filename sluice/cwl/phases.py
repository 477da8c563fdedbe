"""The phases between a document and its plan, in order.

Each phase takes the results of earlier phases and adds its findings. There is a plan if no phase
found an error.
"""

from typing import Any

from sluice.contracts.templates.plan import Plan
from sluice.cwl.checks.assets import check_assets
from sluice.cwl.checks.checkpoints import check_checkpoints
from sluice.cwl.checks.expressions import check_expressions
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
from sluice.cwl.dataflow.dataflow import read_dataflow
from sluice.cwl.dataflow.nested_workflows import FlatteningError, flatten, steps_to_flatten
from sluice.cwl.documents.canonical import make_canonical
from sluice.cwl.documents.document import find_workflow
from sluice.cwl.plan.assembly import assemble_plan
from sluice.cwl.properties.extension_reader import read_extensions, refuse_nested
from sluice.cwl.properties.needs import read_needs
from sluice.cwl.properties.requirements import check_requirement_names
from sluice.cwl.properties.template import ParsedTemplate
from sluice.cwl.reading.findings import Findings, TooManyErrors
from sluice.text.visible_text import quoted


def compile_document(root: Any, findings: Findings, *, name: str) -> Plan | None:
    """Return the plan, or None after an error.

    Steps of nested workflows become steps of the plan if possible. Otherwise such a workflow runs
    inside one job, with a warning.
    """
    if not check_type_depth(root, findings):
        return None
    template = _parse(root, findings)
    if template is None:
        return None
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


def _parse(root: Any, findings: Findings) -> ParsedTemplate | None:
    """Return the parsed template, or None if it cannot be checked further."""
    document = find_workflow(root, findings) if root is not None or not findings.failed else None
    if document is None:
        return None
    extensions = read_extensions(document, findings)
    canonical = make_canonical(document, findings)
    if canonical.is_truncated or not check_tool_sizes(canonical.body, findings):
        return None
    return ParsedTemplate(document, canonical, canonical.body, extensions)


def _plan(template: ParsedTemplate, findings: Findings, *, name: str) -> Plan | None:
    refuse_nested(template.extensions, findings)
    flow = read_dataflow(template, findings)
    check_link_types(flow, findings)
    check_rules(flow, findings)
    check_requirement_names(template, findings)
    check_secrets(template, flow, findings)
    check_warm_tools(template, flow, findings)
    check_checkpoints(flow, findings)
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
    check_expressions(template.unflattened, findings)
    warn_of_tool_fields(template.unflattened, findings)
    check_with_cwltool(template, findings)
    return None if findings.failed else assemble_plan(template, flow, needs, name=name)


def _plan_flattened(template: ParsedTemplate, findings: Findings, *, name: str) -> Plan | None:
    try:
        return _plan(flatten(template), findings, name=name)
    except FlatteningError as error:
        findings.error(error.place, f"{error}")
    except TooManyErrors:
        pass
    return None
