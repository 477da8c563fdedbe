"""Publish a draft of a template."""

from uuid import UUID

from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.run_templates.get_run_template import get_run_template
from wfms.operator.templates.usecases.store_template import StoreOutcome, store_template


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
    template: StoredTemplate = await get_run_template(context.database, draft)
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
