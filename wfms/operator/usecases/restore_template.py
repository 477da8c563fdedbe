"""Makes an old version of a template its latest again."""

from uuid import UUID

from wfms.operator.domain.submitted_files import SubmittedFiles
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_templates import read_template
from wfms.operator.usecases.store_template import StoreOutcome, store_template


async def restore_template(
    context: OperatorContext, name: str, *, version: int, template_id: UUID
) -> StoreOutcome:
    """Precondition: there is this version, not deleted. Effect: a new version with its files,
    compiled anew; none where the latest has these files already. Messages: none. Raises
    ``TemplateUnknown``; ``TemplateRefused`` where today's checks refuse it.
    """
    old = await read_template(context.database, name, version=version)
    return await store_template(
        context, SubmittedFiles(old.files, old.main), name=name, template_id=template_id
    )
