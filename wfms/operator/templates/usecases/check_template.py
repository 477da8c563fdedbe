"""The check of a template without storing it."""

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.templates.templates import CheckedTemplate, CheckTemplate
from wfms.operator.templates.domain.submitted_files import SubmittedFiles
from wfms.operator.templates.usecases.compile_files import Compiler


async def check_template(compiler: Compiler, request: CheckTemplate) -> CheckedTemplate:
    """Compile a template and return its findings and, if it compiles, its plan.

    Raises:
        RequestRefused: The files of the request are not acceptable.
    """
    submitted = SubmittedFiles.of(request)
    try:
        checked = await compiler.compile(await compiler.take(submitted), name="check")
    except Unprocessable as refusal:
        return CheckedTemplate(findings=refusal.findings, plan=None)
    return CheckedTemplate(findings=checked.findings, plan=checked.plan)
