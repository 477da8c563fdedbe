"""The comparison of files with the published template of the same name."""

from uuid import uuid4

from sluice.contracts.templates.templates import TemplateChanges
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.compare_with_latest import compare_with_latest
from wfms.operator.templates.usecases.compile_template import compile_template
from wfms.operator.templates.usecases.find_latest_if_same import find_latest_if_same
from wfms.operator.templates.usecases.template_owners import require_free


async def compare_template(
    context: OperatorContext, submitted_files: SubmittedFiles, *, name: str
) -> TemplateChanges:
    """Return what would change if the files were published under the name.

    Raises:
        Unprocessable: The files are not acceptable.
        TemplateRefused: The template has errors; the exception lists all findings.
        TemplateNameConflict: The name is taken.
        Forbidden: The principal may not publish under the name.
    """
    upload = await context.compiler.take(submitted_files)
    async with context.database.connection() as connection:
        await require_free(connection, name)
        same = await find_latest_if_same(connection, name, upload)
    if same is not None:
        return TemplateChanges(
            name=name,
            before=same.version,
            version=same.version,
            disabled=same.disabled_at is not None,
            warnings=same.warnings,
        )
    return await compare_with_latest(
        context.database,
        await compile_template(context.compiler, upload, name=name, template_id=uuid4()),
    )
