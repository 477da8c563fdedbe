"""Save a draft of a template."""

from dataclasses import replace
from uuid import UUID

from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.access.ownership import ownership
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.compile_template import compile_template
from wfms.operator.templates.usecases.find_latest_if_same import find_latest_if_same
from wfms.operator.templates.usecases.run_templates.run_template_digest import compute_digest
from wfms.operator.templates.usecases.store_template import StoreOutcome
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
