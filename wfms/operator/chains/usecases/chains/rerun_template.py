"""The template of a chain that is to run again."""

from sluice.contracts.chains.chains import Chain
from sluice.contracts.templates.templates import RUN_VERSION
from sluice.servicekit.database import Database
from wfms.operator.templates.domain.errors import TemplateDisabled
from wfms.operator.templates.usecases.find_template_by_id import find_template_by_id


async def find_disabled_error(database: Database, chain: Chain) -> TemplateDisabled | None:
    """Return the error if the template is disabled; that of a one-off run cannot be disabled."""
    if chain.template_version == RUN_VERSION:
        return None
    template = await find_template_by_id(database, chain.template_id)
    if template is None or template.disabled_at is None:
        return None
    return TemplateDisabled(template.name, template.disabled_at)
