"""Compile a template."""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from sluice.contracts.common.problems import Finding
from wfms.operator.templates.domain.errors import TemplateRefused
from wfms.operator.templates.domain.json_document import UnstorableDocument, to_storable
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.compile_files import Compiler

if TYPE_CHECKING:
    from sluice.cwl import Upload


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
