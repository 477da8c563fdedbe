"""Says what is wrong with a template without storing it."""

from sluice.contracts.templates import CheckedTemplate, CheckTemplate
from wfms.operator.usecases.compile_text import Compiler


async def check_template(compiler: Compiler, request: CheckTemplate) -> CheckedTemplate:
    """Precondition: none. Effect: none. Messages: none. Raises nothing: what is wrong is the answer."""
    checked = await compiler.compile(request.cwl, name="check", file=request.file)
    return CheckedTemplate(findings=checked.findings, plan=checked.plan)
