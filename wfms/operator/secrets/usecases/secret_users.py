"""Permission of templates to use a secret, by their names and by the group that owns them."""

from collections.abc import Sequence
from uuid import UUID

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import ALL, EVERYONE
from sluice.contracts.access.secrets import NewSecret, may_use
from sluice.contracts.common.problems import Forbidden, Unprocessable
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.delegation import person_asking
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.identity.db import people
from wfms.operator.identity.usecases.known_groups import are_there_any, require_known
from wfms.operator.secrets.db.secrets import SecretUsers, StoredSecret
from wfms.operator.secrets.domain.errors import SecretWithoutUsers
from wfms.operator.templates.db import run_templates, templates
from wfms.operator.templates.db.template_owners import owned_name
from wfms.operator.templates.domain.template import StoredTemplate

#: The role that may publish templates of the group ``everyone`` that use secrets.
PUBLISHER = Role.SHIFT


class AmbiguousTemplates(Unprocessable):
    """The names do not identify the templates, because anybody may choose such a name."""

    def __init__(self, secret: str, patterns: Sequence[str]) -> None:
        super().__init__(
            f"secret {quoted(secret)}: say which group's templates called {', '.join(patterns)}"
            f" may use it (--group GROUP; `group` in REST; {EVERYONE} for templates that every"
            " group owns)",
            name=secret,
        )


class SecretForAllGroups(Forbidden):
    """A template of the group ``everyone`` that uses secrets needs a higher role."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} uses secrets and belongs to the group {EVERYONE}: that"
            f" needs the role {PUBLISHER}; publish it for a group of yours (--group GROUP)",
            name=name,
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
        await require_known(connection, [new.group])
        return SecretUsers(patterns, new.group)
    if before is not None and list(before.templates) == list(patterns):
        return SecretUsers(patterns, before.owner_group)
    owned = [await owned_name(connection, pattern) for pattern in patterns]
    groups = {None if known is None else known.whose.group for known in owned}
    if len(groups) == 1 and None not in groups:
        return SecretUsers(patterns, groups.pop() or EVERYONE)
    if await are_there_any(connection):
        raise AmbiguousTemplates(new.name, patterns)
    return SecretUsers(patterns, EVERYONE)


async def why_refused(
    connection: Connection, secret: StoredSecret, template_id: UUID
) -> str | None:
    """Return the end of a sentence that says why the template may not use the secret, or None."""
    published = await templates.template_by_id(connection, template_id, ALL)
    found = published or await run_templates.run_template_by_id(connection, template_id, ALL)
    users = f"templates called {', '.join(secret.templates)} of the group {secret.owner_group}"
    if found is None:
        return f"is for {users}, and nobody has published or run the template {template_id}"
    if found.group != secret.owner_group or not may_use(found.name, secret.templates):
        return f"is for {users}, and this is {quoted(found.name)} of the group {found.group}"
    if published is None and not await _trusted(connection, found):
        return (
            f"is for {users}, and this one was not published: a template of a run that belongs to"
            f" {EVERYONE} uses secrets if a person of role {PUBLISHER} has sent it"
        )
    return None


async def _trusted(connection: Connection, run: StoredTemplate) -> bool:
    """Return whether the sender of a run may use secrets.

    A sender without an account used the system's own token, or nobody has to sign in.
    """
    if run.group != EVERYONE or run.owner is None:
        return True
    account = await people.person_called(connection, run.owner)
    return account is None or account.role.includes(PUBLISHER)


def require_may_publish(name: str, plan: Plan, *, group: str) -> None:
    """Check that the principal may publish a template of ``everyone`` that uses secrets.

    Raises:
        SecretForAllGroups: The role of the principal is too low.
    """
    person = person_asking()
    if group != EVERYONE or not plan.secrets or person is None:
        return
    if not person.role.includes(PUBLISHER):
        raise SecretForAllGroups(name)
