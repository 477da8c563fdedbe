"""Stores a template, or the next version of one."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import structlog

from sluice.contracts.problems import Finding
from sluice.contracts.templates import NewTemplate
from sluice.servicekit.database import Database
from wfms.operator.db import templates
from wfms.operator.domain.document import NotStorable, storable
from wfms.operator.domain.errors import TemplateRefused
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.compile_text import Compiler

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Stored:
    """``new``: False when the text is that of the latest version, which was found then."""

    template: StoredTemplate
    new: bool


async def store_template(
    database: Database, compiler: Compiler, request: NewTemplate, *, template_id: UUID, file: str = "workflow.cwl"
) -> Stored:
    """Precondition: none. Effect: a new version of the name, unless its latest version has this very text. Messages: none.
    Raises ``TemplateRefused`` with every finding; nothing is stored then."""
    async with database.connection() as connection:
        present = await templates.latest(connection, request.name)
    if present is not None and present.text == request.cwl:
        return Stored(present, new=False)
    candidate = await _compiled(compiler, request, template_id=template_id, file=file)
    async with database.transaction() as transaction:
        await templates.lock_name(transaction.connection, request.name)
        present = await templates.latest(transaction.connection, request.name)
        if present is not None and present.text == request.cwl:
            return Stored(present, new=False)
        stored = await templates.insert_template(transaction.connection, candidate)
    log.info("template.stored", template=stored.name, version=stored.version, template_id=str(stored.id))
    return Stored(stored, new=True)


async def _compiled(compiler: Compiler, request: NewTemplate, *, template_id: UUID, file: str) -> StoredTemplate:
    checked = await compiler.compile(request.cwl, name=request.name, file=file)
    if checked.plan is None:
        raise TemplateRefused(request.name, checked.findings)
    try:
        document = await asyncio.to_thread(_document, request.cwl, file)
        storable(checked.plan.model_dump(mode="json"))
    except NotStorable as error:
        raise TemplateRefused(request.name, [*checked.findings, Finding(message=str(error), file=file)]) from error
    return StoredTemplate(
        id=template_id,
        name=request.name,
        version=0,
        text=request.cwl,
        document=document,
        plan=checked.plan,
        warnings=checked.findings,
        created_at=datetime.now(UTC),
        deleted_at=None,
    )


def _document(text: str, file: str) -> dict[str, Any]:
    """The text as JSON values. Raises ``NotStorable``."""
    from sluice.cwl.findings import Findings  # noqa: PLC0415 - brings cwltool with it: slow to import, and only needed here
    from sluice.cwl.text import read_text  # noqa: PLC0415

    document: dict[str, Any] = storable(read_text(text, Findings(file)))
    return document
