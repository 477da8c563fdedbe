"""Compare a compiled template with the latest version of its name."""

import asyncio

from sluice.contracts.templates.templates import TemplateChanges
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.plan_changes import compare_plans
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.domain.text_changes import compare_files
from wfms.operator.templates.usecases.list_trigger_cycle_warnings import list_trigger_cycle_warnings


async def compare_with_latest(database: Database, candidate: StoredTemplate) -> TemplateChanges:
    """Compare a template that would be published with the latest version of its name."""
    async with database.connection() as connection:
        before = await templates.find_latest(connection, candidate.name, current_visibility())
        version = await templates.get_next_version(connection, candidate.name)
        cycle_warnings = await list_trigger_cycle_warnings(connection, candidate)
    changes = await asyncio.to_thread(_compare, before, candidate, version)
    return changes.model_copy(update={"warnings": [*candidate.warnings, *cycle_warnings]})


def _compare(
    before: StoredTemplate | None, candidate: StoredTemplate, version: int
) -> TemplateChanges:
    old = "nothing" if before is None else f"version {before.version}"
    return TemplateChanges(
        name=candidate.name,
        before=None if before is None else before.version,
        version=version,
        disabled=before is not None and before.disabled_at is not None,
        plan=compare_plans(None if before is None else before.plan, candidate.plan),
        files=compare_files(
            {} if before is None else before.files,
            candidate.files,
            labels=(old, f"version {version}"),
            mains=((before or candidate).main_path, candidate.main_path),
        ),
    )
