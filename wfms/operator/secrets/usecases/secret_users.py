"""Permission of templates to use a secret, by their names and by the group that owns them."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.owners import ALL, EVERYONE
from sluice.contracts.access.secrets import NewSecret, may_use
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.identity.usecases.known_groups import groups_exist, require_known_groups
from wfms.operator.secrets.db.secrets import SecretUsers, StoredSecret
from wfms.operator.secrets.domain.errors import SecretWithoutUsers
from wfms.operator.templates.db import run_templates, templates
from wfms.operator.templates.db.template_owners import find_owned_name
from wfms.operator.templates.usecases.publishers import PUBLISHER


class AmbiguousTemplates(Unprocessable):
    """The names do not identify the templates, because anybody may choose such a name."""

    def __init__(self, secret: str, patterns: Sequence[str]) -> None:
        super().__init__(
            f"secret {quoted(secret)}: give the group whose templates called {', '.join(patterns)}"
            f" may use it (--group GROUP; `group` in REST; {EVERYONE} for templates that every"
            " group owns)",
            name=secret,
        )


async def choose_users(
    connection: Connection, new: NewSecret, before: StoredSecret | None
) -> SecretUsers:
    """Return which templates may use a new version of a secret.

    Raises:
        SecretWithoutUsers: No template is named, and there is no earlier version.
        AmbiguousTemplates: The names do not identify the group that owns the templates.
        UnknownGroup: The group has no members.
    """
    patterns = new.templates or (before.templates if before else None)
    if patterns is None:
        raise SecretWithoutUsers(new.name)
    if new.group is not None:
        await require_known_groups(connection, [new.group])
        return SecretUsers(patterns, new.group)
    if before is not None and list(before.templates) == list(patterns):
        return SecretUsers(patterns, before.owner_group)
    owners = [await find_owned_name(connection, pattern) for pattern in patterns]
    groups = {None if owner is None else owner.ownership.group for owner in owners}
    if len(groups) == 1 and None not in groups:
        return SecretUsers(patterns, groups.pop() or EVERYONE)
    if await groups_exist(connection):
        raise AmbiguousTemplates(new.name, patterns)
    return SecretUsers(patterns, EVERYONE)


async def explain_refusal(
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
