"""Storage of the template of a one-off run, apart from published templates."""

from dataclasses import replace
from uuid import UUID

import structlog

from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.access.ownership import ownership
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.compile_template import compile_template
from wfms.operator.templates.usecases.publishers import is_publisher
from wfms.operator.templates.usecases.run_templates.run_template_digest import compute_digest
from wfms.operator.templates.usecases.store_template import StoreOutcome

log = structlog.get_logger(__name__)


async def store_run_template(
    context: OperatorContext,
    submitted_files: SubmittedFiles,
    *,
    name: str,
    template_id: UUID,
    group: str | None = None,
) -> StoreOutcome:
    """Store the template of a run, or return the one with the same name, files and group.

    Args:
        context: The context of the operator service.
        submitted_files: The files.
        name: The name of the template, which may equal that of a published one.
        template_id: The id of a new template.
        group: The group that is to own the template.

    Raises:
        Unprocessable: The files are not acceptable.
        TemplateRefused: The template has errors; the exception lists all findings.
    """
    database = context.database
    upload = await context.compiler.take(submitted_files)
    owner = ownership(current_person(), owner=None, group=group)
    digest = compute_digest(name, upload, owner.group)
    async with database.connection() as connection:
        present = await run_templates.run_again(connection, digest, by_publisher=is_publisher())
    if present is not None:
        return StoreOutcome(present, new=False)
    candidate = await compile_template(context.compiler, upload, name=name, template_id=template_id)
    candidate = replace(candidate, owner=owner.owner, group=owner.group)
    async with database.transaction() as transaction:
        connection = transaction.connection
        stored = await run_templates.insert_run_template(
            connection, candidate, digest=digest, by_publisher=is_publisher()
        )
    log.info("template.run", template=stored.name, template_id=str(stored.id))
    return StoreOutcome(stored, new=stored.id == template_id)
