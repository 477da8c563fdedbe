"""Whose templates are: who may publish under a name, and with whom it is shared."""

import structlog

from sluice.contracts.access import Role
from sluice.contracts.owners import EVERYONE, Share
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Conflict, Forbidden
from sluice.servicekit.access.behalf import person_asking, sight_now
from sluice.servicekit.access.ownership import ownership, require_member
from sluice.servicekit.database import Connection, Database
from sluice.visible_text import quoted
from wfms.operator.db import templates
from wfms.operator.db.template_owners import owned_name, share_name, take_name
from wfms.operator.domain.errors import TemplateUnknown
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.known_groups import are_there_any, require_known
from wfms.operator.usecases.secret_users import require_may_publish

log = structlog.get_logger(__name__)


class TemplateNameTaken(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"the name {quoted(name)} is taken: give the template another one", name=name
        )


class TakesFromAll(Forbidden):
    """It would take data sets away from groups that its publisher is not in."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"template {quoted(name)} is to be everyone's and takes data sets by itself"
            f" (sluice:match), those of all groups: that needs the role {Role.SHIFT}; publish it"
            " for a group of yours (--group GROUP)",
            name=name,
        )


async def require_may_take(connection: Connection, name: str, plan: Plan, *, group: str) -> None:
    """``group``: whose the template is. Where there are no groups, everything is everyone's
    anyway. Raises ``TakesFromAll``, ``SecretOfEveryone``.
    """
    require_may_publish(name, plan, group=group)
    person = person_asking()
    if group != EVERYONE or not plan.match or person is None or person.role.includes(Role.SHIFT):
        return
    if await are_there_any(connection):
        raise TakesFromAll(name)


async def require_free(connection: Connection, name: str, *, group: str | None = None) -> None:
    """The name is nobody's, or the group's of who asks. Raises ``TemplateNameTaken``,
    ``Forbidden``; ``Conflict`` where it is to be another ``group``'s.
    """
    known = await owned_name(connection, name)
    if known is None:
        return
    sight = sight_now()
    if not sight.sees(known.whose.group, known.shared_with):
        raise TemplateNameTaken(name)
    if not sight.is_member(known.whose.group):
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
    """Precondition: the lock of the name is had. Effect: it is the asker's, where it is new.
    Raises as ``require_free``, and ``TakesFromAll``.
    """
    await require_free(connection, name, group=group)
    if await templates.next_version(connection, name) == 1:
        whose = ownership(person_asking(), owner=None, group=group)
        await take_name(connection, name, whose)
    known = await owned_name(connection, name)
    now = EVERYONE if known is None else known.whose.group
    await require_may_take(connection, name, plan, group=now)


async def require_changeable(connection: Connection, name: str) -> StoredTemplate:
    """The latest version. Precondition: the lock of the name is had, so that whoever deletes it
    comes before or after. Raises ``TemplateUnknown``, ``Forbidden``.
    """
    found = await templates.latest(connection, name, sight_now())
    if found is None:
        raise TemplateUnknown(name)
    if not sight_now().is_member(found.group):
        raise Forbidden(f"template {quoted(name)} is the group {found.group}'s, which shares it")
    return found


async def share_template(database: Database, name: str, request: Share) -> StoredTemplate:
    """Precondition: none; repeating it is fine. Effect: these groups see the template from now on,
    and no others beside its own. Messages: none. Raises ``TemplateUnknown``; ``Forbidden`` where
    it is another group's, or is to be given to a group that the asker is not in;
    ``UnknownGroup``, ``TakesFromAll``.
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
        shared = await templates.version_of(connection, name, found.version, sight_now())
    log.info(
        "template.shared", template=name, group=group, shared_with=request.shared_with,
        by=str(person),
    )  # fmt: skip
    return shared or found
