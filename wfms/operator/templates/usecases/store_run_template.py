"""Storage of the template of a one-off run, apart from published templates."""

import hashlib
import json
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from sluice.contracts.access.owners import EVERYONE
from sluice.servicekit.access.delegation import current_person
from sluice.servicekit.access.ownership import ownership
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.publishers import is_publisher
from wfms.operator.templates.usecases.store_template import StoreOutcome, compile_template

if TYPE_CHECKING:
    from sluice.cwl import Upload

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


def compute_digest(name: str, upload: "Upload", group: str) -> bytes:
    """Return a digest of all that determines the plan and the owner.

    It includes the release, because another release may compile the files to another plan.
    """
    content = [version("sluice"), name, upload.main, sorted(upload.texts.items())]
    content += [] if group == EVERYONE else [group]
    return hashlib.sha256(json.dumps(content).encode()).digest()
