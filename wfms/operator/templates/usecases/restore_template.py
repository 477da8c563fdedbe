"""Restoration of old template versions."""

from uuid import UUID

from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.get_template import get_template
from wfms.operator.templates.usecases.store_template import StoreOutcome, store_template


async def restore_template(
    context: OperatorContext, name: str, *, version: int, template_id: UUID
) -> StoreOutcome:
    """Publish the files of an old version as a new version, unless the latest has the same files.

    Raises:
        TemplateUnknown: There is no such version.
        TemplateRefused: The current checks find errors.
    """
    old = await get_template(context.database, name, version=version)
    return await store_template(
        context, SubmittedFiles(old.files, old.main), name=name, template_id=template_id
    )
