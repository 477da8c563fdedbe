"""Ownership of templates: who may publish under a name, and with whom it is shared."""

import structlog

from sluice.contracts.access.owners import EVERYONE, Share
from sluice.contracts.common.problems import Conflict, Forbidden
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.delegation import current_visibility, person_asking
from sluice.servicekit.access.ownership import ownership, require_member
from sluice.servicekit.database import Connection, Database
from sluice.text.visible_text import quoted
from wfms.operator.identity.usecases.known_groups import are_there_any, require_known
from wfms.operator.templates.db import templates
from wfms.operator.templates.db.template_owners import owned_name, share_name, take_name
from wfms.operator.templates.domain.errors import TemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.publishers import (
    PUBLISHER,
    is_publisher,
    require_may_publish,
)

log = structlog.get_logger(__name__)


class TemplateNameTaken(Conflict):
    """The name belongs to a template that the principal may not see."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the name {quoted(name)} is taken: give the template another one", name=name
        )


class MatchesForeignData(Forbidden):
    """The template would take data sets from groups that its publisher is not in."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} is to be everyone's and takes data sets by itself"
            f" (sluice:match), those of all groups: that needs the role {PUBLISHER}; publish it"
            " for a group of yours (--group GROUP)",
            name=name,
        )


async def require_may_take(connection: Connection, name: str, plan: Plan, *, group: str) -> None:
    """Check that the principal may publish such a template for the group.

    The check of matching applies only if groups exist.

    Raises:
        MatchesForeignData: The template would take data sets of all groups.
        SecretForAllGroups: The template uses secrets and the role of the principal is too low.
    """
    require_may_publish(name, plan, group=group)
    if group == EVERYONE and plan.match and not is_publisher() and await are_there_any(connection):
        raise MatchesForeignData(name)


async def require_free(connection: Connection, name: str, *, group: str | None = None) -> None:
    """Check that the name is free or belongs to a group of the principal.

    Raises:
        TemplateNameTaken: The name belongs to a template that the principal may not see.
        Forbidden: The name belongs to another group.
        Conflict: The name belongs to another group than ``group``.
    """
    known = await owned_name(connection, name)
    if known is None:
        return
    visibility = current_visibility()
    if not visibility.sees(known.whose.group, known.shared_with):
        raise TemplateNameTaken(name)
    if not visibility.is_member(known.whose.group):
        raise Forbidden(
            f"template {quoted(name)} is the group {known.whose.group}'s, which shares it:"
            " publish under a name of your own"
        )
    if group not in {None, known.whose.group}:
        raise Conflict(
            f"template {quoted(name)} is the group {known.whose.group}'s: to give it to {group},"
            f" share it (`sluice template share {name} --group {group}`)"
        )


async def take_for_asker(
    connection: Connection, name: str, plan: Plan, *, group: str | None
) -> None:
    """Assign a new name to the principal; the caller must hold the lock of the name.

    Raises:
        TemplateNameTaken: The name belongs to a template that the principal may not see.
        Forbidden: The name belongs to another group.
        Conflict: The name belongs to another group than ``group``.
        MatchesForeignData: The template would take data sets of all groups.
        SecretForAllGroups: The template uses secrets and the role of the principal is too low.
    """
    await require_free(connection, name, group=group)
    if await templates.next_version(connection, name) == 1:
        whose = ownership(person_asking(), owner=None, group=group)
        await take_name(connection, name, whose)
    known = await owned_name(connection, name)
    now = EVERYONE if known is None else known.whose.group
    await require_may_take(connection, name, plan, group=now)


async def require_changeable(connection: Connection, name: str) -> StoredTemplate:
    """Return the latest version if the principal may change it; the caller must lock the name.

    The lock orders the change before or after a deletion.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The template belongs to another group.
    """
    found = await templates.latest(connection, name, current_visibility())
    if found is None:
        raise TemplateUnknown(name)
    if not current_visibility().is_member(found.group):
        raise Forbidden(f"template {quoted(name)} is the group {found.group}'s, which shares it")
    return found


async def share_template(database: Database, name: str, request: Share) -> StoredTemplate:
    """Set the groups that see a template besides its owner, and optionally the owning group.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The template belongs to another group, or the principal is not in the new one.
        UnknownGroup: A group has no members.
        MatchesForeignData: The template would take data sets of all groups.
        SecretForAllGroups: The template uses secrets and the role of the principal is too low.
    """
    person = person_asking()
    if person is not None and request.group is not None:
        require_member(person, request.group)
    async with database.transaction() as transaction:
        connection = transaction.connection
        await templates.lock_name(connection, name)
        found = await require_changeable(connection, name)
        await require_known(connection, request.shared_with)
        group = request.group or found.group
        if group != found.group:
            await require_may_take(connection, name, found.plan, group=group)
        await share_name(connection, name, group=group, shared_with=request.shared_with)
        shared = await templates.version_of(connection, name, found.version, current_visibility())
    log.info(
        "template.shared", template=name, group=group, shared_with=request.shared_with,
        by=str(person),
    )  # fmt: skip
    return shared or found
