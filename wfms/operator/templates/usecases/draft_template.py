"""Drafts: templates that are stored while somebody reviews what publishing them would change."""

from dataclasses import replace
from uuid import UUID

from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.access.ownership import ownership
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.read_run_templates import read_run_template
from wfms.operator.templates.usecases.store_run_template import compute_digest
from wfms.operator.templates.usecases.store_template import (
    StoreOutcome,
    compile_template,
    find_latest_if_same,
    store_template,
)
from wfms.operator.templates.usecases.template_owners import require_free


async def save_draft(
    context: OperatorContext,
    submitted_files: SubmittedFiles,
    *,
    name: str,
    template_id: UUID,
    group: str | None = None,
) -> StoreOutcome:
    """Store a draft, or return the latest version if it has exactly these files.

    A draft can be read by its id, is not listed and is deleted after some days.

    Args:
        context: The context of the operator service.
        submitted_files: The files.
        name: The name of the template.
        template_id: The id of the draft.
        group: The group that is to own the template.

    Raises:
        Unprocessable: The files are not acceptable.
        TemplateRefused: The template has errors; the exception lists all findings.
        TemplateNameConflict: The name is taken.
        Forbidden: The principal may not publish under the name.
    """
    database = context.database
    upload = await context.compiler.take(submitted_files)
    owner = ownership(current_person(), owner=None, group=group)
    async with database.connection() as connection:
        await require_free(connection, name, group=group)
        same = await find_latest_if_same(connection, name, upload)
    if same is not None:
        return StoreOutcome(same, new=False)
    candidate = await compile_template(context.compiler, upload, name=name, template_id=template_id)
    draft = replace(candidate, owner=owner.owner, group=owner.group)
    digest = compute_digest(name, upload, owner.group)
    async with database.transaction() as transaction:
        connection = transaction.connection
        await run_templates.delete_old_draft_templates(connection)
        return StoreOutcome(
            await run_templates.insert_draft_template(connection, draft, digest=digest), new=True
        )


async def publish_draft(
    context: OperatorContext, draft: UUID, *, replaces: int, template_id: UUID
) -> StoreOutcome:
    """Publish a draft, or the template of a run, as the next version of its name.

    A draft is deleted then. If the latest version has exactly these files, no version is created.

    Args:
        context: The context of the operator service.
        draft: The id of the draft.
        replaces: The latest version of the name; 0 if there is none.
        template_id: The id of the new version.

    Raises:
        RunTemplateUnknown: There is no such draft.
        TemplateVersionConflict: ``replaces`` is not the latest version.
        TemplateRefused: The current checks find errors.
    """
    template: StoredTemplate = await read_run_template(context.database, draft)
    submitted = SubmittedFiles(template.files, template.main)
    stored = await store_template(
        context,
        submitted,
        name=template.name,
        template_id=template_id,
        replaces=replaces,
        group=template.group if replaces == 0 else None,
    )
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await run_templates.delete_draft_template(connection, draft)
    return stored
