"""Storage of templates and their versions."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from sluice.contracts.access.owners import ALL
from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.templates import split_main
from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Connection
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.errors import TemplateRefused, TemplateVersionConflict
from wfms.operator.templates.domain.json_document import UnstorableDocument, to_storable
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.compile_files import Compiler
from wfms.operator.templates.usecases.template_owners import require_free, take_for_principal
from wfms.operator.templates.usecases.warn_of_trigger_cycles import list_trigger_cycle_warnings

if TYPE_CHECKING:
    from sluice.cwl import Upload

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


async def find_latest_if_same(
    connection: Connection, name: str, upload: "Upload"
) -> StoredTemplate | None:
    """Return the latest version if it has these files.

    The path of a single file does not matter.
    """
    present = await templates.find_latest(connection, name, current_visibility())
    if present is None:
        return None
    process = split_main(present.main, present.files)[1]
    if len(present.files) == len(upload.texts) == 1:
        is_same = split_main(upload.main or "", upload.texts)[1] == process
        return present if is_same and [present.text] == list(upload.texts.values()) else None
    mains = {present.main} if process else {None, present.main}
    return present if present.files == upload.texts and upload.main in mains else None


async def compile_template(
    compiler: Compiler, upload: "Upload", *, name: str, template_id: UUID
) -> StoredTemplate:
    """Return the compiled template, which has no version number yet.

    Raises:
        TemplateRefused: The template has errors.
    """
    checked = await compiler.compile(upload, name=name)
    if checked.plan is None or checked.main is None:
        raise TemplateRefused(name, checked.findings, texts=upload.texts, main=checked.main)
    try:
        document = await asyncio.to_thread(to_storable, checked.document)
        to_storable(checked.plan.model_dump(mode="json"))
    except UnstorableDocument as error:
        finding = Finding(message=str(error), file=checked.main)
        raise TemplateRefused(
            name, [*checked.findings, finding], texts=upload.texts, main=checked.main
        ) from error
    return StoredTemplate(
        id=template_id,
        name=name,
        version=0,
        main=checked.main,
        files=upload.texts,
        document=document,
        plan=checked.plan,
        warnings=checked.findings,
        created_at=datetime.now(UTC),
        deleted_at=None,
    )
