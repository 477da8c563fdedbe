"""The comparison of files with the published template of the same name."""

import asyncio
from uuid import uuid4

from sluice.contracts.templates.templates import TemplateChanges
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.plan_changes import compare_plans
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.domain.text_changes import compare_files
from wfms.operator.templates.usecases.store_template import compile_template, find_latest_if_same
from wfms.operator.templates.usecases.template_owners import require_free
from wfms.operator.templates.usecases.warn_of_trigger_cycles import list_trigger_cycle_warnings


async def compare_template(
    context: OperatorContext, submitted_files: SubmittedFiles, *, name: str
) -> TemplateChanges:
    """Return what would change if the files were published under the name.

    Raises:
        Unprocessable: The files are not acceptable.
        TemplateRefused: The template has errors; the exception lists all findings.
        TemplateNameConflict: The name is taken.
        Forbidden: The principal may not publish under the name.
    """
    upload = await context.compiler.take(submitted_files)
    async with context.database.connection() as connection:
        await require_free(connection, name)
        same = await find_latest_if_same(connection, name, upload)
    if same is not None:
        return TemplateChanges(
            name=name,
            before=same.version,
            version=same.version,
            disabled=same.disabled_at is not None,
            warnings=same.warnings,
        )
    return await compare_with_latest(
        context.database,
        await compile_template(context.compiler, upload, name=name, template_id=uuid4()),
    )


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
