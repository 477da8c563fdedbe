"""Ownership of templates: who may publish under a name, and with whom it is shared."""

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Conflict, Forbidden
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.delegation import current_person, current_visibility
from sluice.servicekit.access.ownership import ownership
from sluice.servicekit.database import Connection
from sluice.text.visible_text import quoted
from wfms.operator.identity.usecases.known_groups import groups_exist
from wfms.operator.templates.db import templates
from wfms.operator.templates.db.template_owners import find_owned_name, take_name
from wfms.operator.templates.domain.errors import TemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.publishers import (
    PUBLISHER,
    is_publisher,
    require_may_publish,
)


class TemplateNameConflict(Conflict):
    """The name belongs to a template that the principal may not see."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the name {quoted(name)} is taken: give the template another one", name=name
        )


class ForeignDataMatch(Forbidden):
    """The template would take data sets from groups that its publisher is not in."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} would belong to everyone and take data sets of all groups"
            f" automatically (sluice:match), which requires the role {PUBLISHER}; publish it for a"
            " group of yours (--group GROUP)",
            name=name,
        )


async def require_may_take(connection: Connection, name: str, plan: Plan, *, group: str) -> None:
    """Check that the principal may publish such a template for the group.

    The check of matching applies only if groups exist.

    Raises:
        ForeignDataMatch: The template would take data sets of all groups.
        SecretForAllGroups: The template uses secrets and the role of the principal is too low.
    """
    require_may_publish(name, plan, group=group)
    if group == EVERYONE and plan.match and not is_publisher() and await groups_exist(connection):
        raise ForeignDataMatch(name)


async def require_free(connection: Connection, name: str, *, group: str | None = None) -> None:
    """Check that the name is free or belongs to a group of the principal.

    Raises:
        TemplateNameConflict: The name belongs to a template that the principal may not see.
        Forbidden: The name belongs to another group.
        Conflict: The name belongs to another group than ``group``.
    """
    owned = await find_owned_name(connection, name)
    if owned is None:
        return
    visibility = current_visibility()
    if not visibility.sees(owned.ownership.group, owned.shared_with):
        raise TemplateNameConflict(name)
    if not visibility.is_member(owned.ownership.group):
        raise Forbidden(
            f"template {quoted(name)} belongs to the group {owned.ownership.group}, which only"
            " shares it: publish yours under another name"
        )
    if group not in {None, owned.ownership.group}:
        raise Conflict(
            f"template {quoted(name)} belongs to the group {owned.ownership.group}: to give it to"
            f" {group}, share it (`sluice template share {name} --group {group}`)"
        )


async def take_for_principal(
    connection: Connection, name: str, plan: Plan, *, group: str | None
) -> None:
    """Assign a new name to the principal; the caller must hold the lock of the name.

    Raises:
        TemplateNameConflict: The name belongs to a template that the principal may not see.
        Forbidden: The name belongs to another group.
        Conflict: The name belongs to another group than ``group``.
        ForeignDataMatch: The template would take data sets of all groups.
        SecretForAllGroups: The template uses secrets and the role of the principal is too low.
    """
    await require_free(connection, name, group=group)
    if await templates.get_next_version(connection, name) == 1:
        owner = ownership(current_person(), owner=None, group=group)
        await take_name(connection, name, owner)
    owned = await find_owned_name(connection, name)
    owner_group = EVERYONE if owned is None else owned.ownership.group
    await require_may_take(connection, name, plan, group=owner_group)


async def require_changeable(connection: Connection, name: str) -> StoredTemplate:
    """Return the latest version if the principal may change it; the caller must lock the name.

    The lock orders the change before or after a deletion.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The template belongs to another group.
    """
    template = await templates.find_latest(connection, name, current_visibility())
    if template is None:
        raise TemplateUnknown(name)
    if not current_visibility().is_member(template.group):
        raise Forbidden(
            f"template {quoted(name)} belongs to the group {template.group}, which only shares it"
        )
    return template
