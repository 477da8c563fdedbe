"""Return the versions of a secret."""

from uuid import UUID

from sluice.contracts.access.owners import ALL, EVERYONE
from sluice.contracts.access.secrets import Secret, may_use
from sluice.servicekit.database import Connection, Database
from sluice.text.visible_text import quoted
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.db.secrets import StoredSecret
from wfms.operator.secrets.domain.errors import SecretUnknown
from wfms.operator.secrets.usecases.secret_versions import build_secret
from wfms.operator.templates.db import run_templates, templates
from wfms.operator.templates.usecases.publishers import PUBLISHER


async def get_secret(database: Database, name: str, *, template_id: UUID | None = None) -> Secret:
    """Return the versions of a secret and, with ``template_id``, why that template may not use it.

    Raises:
        SecretUnknown: There is no such secret.
    """
    async with database.connection() as connection:
        versions = await secrets.list_versions(connection, name)
        if not versions:
            raise SecretUnknown(name)
        refusal = template_id and await _explain_refusal(connection, versions[0], template_id)
    return build_secret(versions).model_copy(update={"refused": refusal})


async def _explain_refusal(
    connection: Connection, secret: StoredSecret, template_id: UUID
) -> str | None:
    """Return the end of a sentence that says why the template may not use the secret, or None."""
    published = await templates.find_template_by_id(connection, template_id, ALL)
    template = published or await run_templates.find_run_template_by_id(
        connection, template_id, ALL
    )
    users = f"templates called {', '.join(secret.templates)} of the group {secret.owner_group}"
    if template is None:
        return f"is for {users}, and there is no template {template_id}"
    if template.group != secret.owner_group or not may_use(template.name, secret.templates):
        return f"is for {users}, and this is {quoted(template.name)} of the group {template.group}"
    if (
        published is None
        and template.group == EVERYONE
        and not await run_templates.was_sent_by_publisher(connection, template_id)
    ):
        return (
            f"is for {users}, and this one was not published: a template of a run that belongs to"
            f" {EVERYONE} uses secrets if a person of role {PUBLISHER} has sent it"
        )
    return None
