"""Compile an upload as the operator service does."""

from sluice.contracts.templates.plan import Plan
from sluice.cwl import compile_upload, take_files
from tests.unit.cwl.mutations import Files
from wfms.operator.templates.domain.json_document import to_storable
from wfms.operator.web.domain.plan_drawing import draw
from wfms.operator.web.domain.source_listing import list_sources
from wfms.operator.web.domain.start_form import list_fields


def carry_through(files: Files, main: str | None) -> Plan | None:
    """Compile, store and draw an upload as the operator service does; return None if refused."""
    upload = take_files(files, main=main)
    result = compile_upload(upload, name="t")
    assert (result.compiled.plan is None) == bool(result.compiled.errors)
    list_sources(upload.texts, result.main, findings=result.compiled.findings, fold=True)
    plan = result.compiled.plan
    if plan is None:
        return None
    to_storable(result.document)
    to_storable(plan.model_dump(mode="json"))
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    draw(plan)
    list_fields(plan, {})
    return plan
