"""The lock of the name of a template."""

from sluice.servicekit.database import Connection
from wfms.operator.templates.db import templates
from wfms.operator.templates.usecases.template_owners import require_changeable


async def lock_changeable(connection: Connection, name: str) -> None:
    """Lock the name of a template that the principal may change.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The principal may not change the template.
    """
    await templates.lock_name(connection, name)
    await require_changeable(connection, name)
