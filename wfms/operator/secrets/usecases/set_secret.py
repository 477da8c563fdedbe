"""Store a new version of a secret."""

from collections.abc import Sequence

import structlog

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.access.secrets import NewSecret, Secret
from sluice.contracts.common.problems import Unprocessable
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.context import OperatorContext
from wfms.operator.identity.usecases.known_groups import groups_exist, require_known_groups
from wfms.operator.secrets.db import secrets
from wfms.operator.secrets.db.secrets import SecretUsers, StoredSecret
from wfms.operator.secrets.domain.errors import SecretWithoutUsers
from wfms.operator.secrets.domain.secrets import sealed_as
from wfms.operator.secrets.usecases.get_secret import get_secret
from wfms.operator.templates.db.template_owners import find_owned_name

log = structlog.get_logger(__name__)


class AmbiguousTemplates(Unprocessable):
    """The names do not identify the templates, because anybody may choose such a name."""

    def __init__(self, secret: str, patterns: Sequence[str]) -> None:
        super().__init__(
            f"secret {quoted(secret)}: give the group whose templates called {', '.join(patterns)}"
            f" may use it (--group GROUP; `group` in REST; {EVERYONE} for templates that every"
            " group owns)",
            name=secret,
        )


async def set_secret(context: OperatorContext, new: NewSecret) -> Secret:
    """Store a new encrypted version of a secret, which new chains use.

    Raises:
        EncryptionKeyMissing: The service has no key.
        SecretWithoutUsers: No template is named.
        AmbiguousTemplates: The names do not identify the group that owns the templates.
        UnknownGroup: The group has no members.
    """
    name = new.name
    async with context.database.transaction() as transaction:
        connection = transaction.connection
        await secrets.lock_secret(connection, name)
        version = await secrets.get_last_version(connection, name) + 1
        before = await secrets.list_versions(connection, name)
        users = await _choose_users(connection, new, before[0] if before else None)
        sealed = context.sealer.seal(new.value.get_secret_value(), what=sealed_as(name, version))
        await secrets.insert_secret(
            connection, name, version=version, sealed_value=sealed, users=users
        )
    log.info(
        "secret.set", secret=name, version=version, templates=users.templates, group=users.group
    )
    return await get_secret(context.database, name)


async def _choose_users(
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
