"""Share a template with groups."""

import structlog

from sluice.contracts.access.owners import Share
from sluice.servicekit.access.delegation import current_person, current_visibility
from sluice.servicekit.access.ownership import require_member
from sluice.servicekit.database import Database
from wfms.operator.identity.usecases.known_groups import require_known_groups
from wfms.operator.templates.db import templates
from wfms.operator.templates.db.template_owners import share_name
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.template_owners import require_changeable, require_may_take

log = structlog.get_logger(__name__)


async def share_template(database: Database, name: str, request: Share) -> StoredTemplate:
    """Set the groups that see a template besides its owner, and optionally the owning group.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The template belongs to another group, or the principal is not in the new one.
        UnknownGroup: A group has no members.
        ForeignDataMatch: The template would take data sets of all groups.
        SecretForAllGroups: The template uses secrets and the role of the principal is too low.
    """
    person = current_person()
    if person is not None and request.group is not None:
        require_member(person, request.group)
    async with database.transaction() as transaction:
        connection = transaction.connection
        await templates.lock_name(connection, name)
        template = await require_changeable(connection, name)
        await require_known_groups(connection, request.shared_with)
        group = request.group or template.group
        if group != template.group:
            await require_may_take(connection, name, template.plan, group=group)
        await share_name(connection, name, group=group, shared_with=request.shared_with)
        shared = await templates.find_version(
            connection, name, template.version, current_visibility()
        )
    log.info(
        "template.shared", template=name, group=group, shared_with=request.shared_with,
        by=str(person),
    )  # fmt: skip
    return shared or template
