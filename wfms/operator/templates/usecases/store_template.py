"""Storage of templates and their versions."""

from dataclasses import dataclass, replace
from uuid import UUID

import structlog

from sluice.contracts.access.owners import ALL
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.errors import TemplateVersionConflict
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.compile_template import compile_template
from wfms.operator.templates.usecases.find_latest_if_same import find_latest_if_same
from wfms.operator.templates.usecases.list_trigger_cycle_warnings import list_trigger_cycle_warnings
from wfms.operator.templates.usecases.template_owners import require_free, take_for_principal

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """The stored template; ``new`` is False if the latest version already had these files."""

    template: StoredTemplate
    new: bool


async def store_template(
    context: OperatorContext,
    submitted_files: SubmittedFiles,
    *,
    name: str,
    template_id: UUID,
    replaces: int | None = None,
    group: str | None = None,
) -> StoreOutcome:
    """Store a new version of a template unless its latest version has exactly these files.

    A trigger cycle is only a warning in the result.

    Args:
        context: The context of the operator service.
        submitted_files: The files.
        name: The name of the template.
        template_id: The id of the new version.
        replaces: The expected latest version (0: there is none); None skips this check.
        group: The group that is to own a new name.

    Raises:
        Unprocessable: The files are not acceptable.
        TemplateRefused: The template has errors; the exception lists all findings.
        TemplateVersionConflict: The latest version is not ``replaces``.
        TemplateNameConflict: The name is taken.
        Forbidden: The principal may not publish under the name.
        ForeignDataMatch: The template would take data sets of all groups.
    """
    database = context.database
    upload = await context.compiler.take(submitted_files)
    async with database.connection() as connection:
        await require_free(connection, name, group=group)
        present = await find_latest_if_same(connection, name, upload)
    if present is not None:
        return StoreOutcome(present, new=False)
    candidate = await compile_template(context.compiler, upload, name=name, template_id=template_id)
    async with database.transaction() as transaction:
        await templates.lock_name(transaction.connection, name)
        await take_for_principal(transaction.connection, name, candidate.plan, group=group)
        present = await find_latest_if_same(transaction.connection, name, upload)
        if present is not None:
            return StoreOutcome(present, new=False)
        latest_template = await templates.find_latest(transaction.connection, name, ALL)
        version = 0 if latest_template is None else latest_template.version
        if replaces not in {None, version}:
            raise TemplateVersionConflict(name, version)
        stored = await templates.insert_template(transaction.connection, candidate)
        cycle_warnings = await list_trigger_cycle_warnings(transaction.connection, stored)
    log.info(
        "template.stored", template=stored.name, version=stored.version, template_id=str(stored.id)
    )
    return StoreOutcome(replace(stored, warnings=[*stored.warnings, *cycle_warnings]), new=True)
